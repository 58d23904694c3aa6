// Package jobfile reads job files: YAML, strict, over the defaults. What the file does not say keeps its default, and a
// key that no job has is an error with its line.
package jobfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Load reads the job file at path over the defaults. A blacklist or a list of seeds that it
// names is looked for beside it. The job is
// not validated: flags may still complete it.
func Load(path string) (crawl.Job, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return crawl.Job{}, fmt.Errorf("job file: %w", err)
	}
	job, err := Parse(data)
	if err != nil {
		return job, fmt.Errorf("job file %s: %w", path, err)
	}
	if job.Blacklist != "" && !filepath.IsAbs(job.Blacklist) {
		job.Blacklist = filepath.Join(filepath.Dir(path), job.Blacklist)
	}
	if job.SeedList != "" && job.SeedList != "-" && !filepath.IsAbs(job.SeedList) {
		if job.SeedList, err = filepath.Abs(filepath.Join(filepath.Dir(path), job.SeedList)); err != nil {
			return job, err
		}
	}
	job.Pipeline.MapFiles(func(_, file string) string { return beside(path, file) })
	job.MapTopicFiles(func(file string) string { return beside(path, file) })
	job.MapSecretFiles(func(file string) string { return beside(path, file) })
	return job, nil
}

// beside is the absolute path of a file that a job file names: whoever goes on with the crawl may do so from elsewhere.
func beside(jobFile, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(jobFile), name)
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// Parse reads one YAML document over the defaults.
func Parse(data []byte) (crawl.Job, error) {
	job := crawl.DefaultJob()
	if err := checkShape(data); err != nil {
		return job, err
	}
	job.Politeness = presetOf(data)
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	err := dec.Decode(&job)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := explain(data, err); err != nil {
		return job, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return job, errors.New("more than one document: one job a file")
	}
	return job, nil
}

// Marshal writes a job as a job file that Parse reads back.
func Marshal(job *crawl.Job) ([]byte, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(job); err != nil {
		return nil, fmt.Errorf("write job %s: %w", job.ID, err)
	}
	return buf.Bytes(), enc.Close()
}

// presetOf is the politeness that a job file's preset stands for; the default where it names none, or none that there
// is: that is told when the job is checked.
func presetOf(data []byte) crawl.Politeness {
	var file struct {
		Politeness struct {
			Preset crawl.Preset `yaml:"preset"`
		} `yaml:"politeness"`
	}
	_ = yaml.Unmarshal(data, &file) // what is wrong with the file is told when all of it is read
	p, _ := crawl.PresetPoliteness(file.Politeness.Preset)
	return p
}
