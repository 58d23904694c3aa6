package secret

// Masked replaces a reference in a text that is only looked at.
const Masked = "xxxxx"

// Mask returns the text with Masked in the place of each reference to a variable.
func Mask(text string) string { return name.ReplaceAllString(text, Masked) }
