# The targets of a cluster at AWS; docs/aws.md tells what they do in order. Settings come from the command line, the
# environment or aws.settings (copy deploy/aws/aws.settings.example), which git ignores.
-include aws.settings

AWS      ?= aws
CLUSTER  ?= whirlpool
REGION   ?= $(shell $(AWS) configure get region 2>/dev/null)
RELEASE  ?= $(VERSION)
KEY      ?= $(CLUSTER)
KEY_FILE ?= ~/.ssh/$(KEY).pem
BASTION_USER ?= admin
# who am I, asked once and only when needed
ifndef ACCOUNT
ACCOUNT   = $(eval ACCOUNT := $$(shell $(AWS) sts get-caller-identity --query Account --output text))$(ACCOUNT)
endif
# aws, but in China and for the US government: the second part of every ARN
PARTITION ?= $(if $(filter cn-%,$(REGION)),aws-cn,$(if $(filter us-gov-%,$(REGION)),aws-us-gov,aws))
BUCKET   ?= $(CLUSTER)-releases-$(ACCOUNT)-$(REGION)
# The parameters of the stack that were set: make aws-create CRAWLERS=5. What is not named keeps its default, or in an
# update its value.
PARAMETERS = $(foreach p,Size=$(SIZE) Crawlers=$(CRAWLERS) CrawlerType=$(CRAWLER_TYPE) CrawlerDisk=$(CRAWLER_DISK) \
	DatabaseType=$(DATABASE_TYPE) DatabaseStorage=$(DATABASE_STORAGE) LedgerServers=$(LEDGER_SERVERS) \
	LedgerStorage=$(LEDGER_STORAGE) PageStorage=$(PAGE_STORAGE) \
	Monitoring=$(MONITORING) Rendering=$(RENDERING) Studio=$(STUDIO) StudioName=$(STUDIO_NAME) \
	StudioCertificate=$(STUDIO_CERTIFICATE) StudioCidr=$(STUDIO_CIDR) OidcIssuer=$(OIDC_ISSUER) OidcClient=$(OIDC_CLIENT) OidcRoles=$(OIDC_ROLES) OidcSecret=$(OIDC_SECRET) VpcCidr=$(VPC_CIDR) AdminCidr=$(ADMIN_CIDR) \
	Nat=$(NAT) AlarmEmail=$(ALARM_EMAIL) Registry=$(REGISTRY_PREFIX) ImageId=$(IMAGE) BaseImageId=$(BASE_IMAGE) BaseRelease=$(BASE_RELEASE),$(if $(word 2,$(subst =, ,$(p))),$(p)))
# A change keeps the release that runs, unless RELEASE names another.
NEXT = $(if $(filter file,$(origin RELEASE)),same,$(RELEASE))
STACK = CLUSTER='$(CLUSTER)' REGION='$(REGION)' BUCKET='$(BUCKET)' ACCOUNT='$(ACCOUNT)' PARTITION='$(PARTITION)' KEY='$(KEY)' AWS='$(AWS)' deploy/aws/stack
export AWS_PAGER :=

.PHONY: aws-policies aws-grant aws-key aws-image aws-bucket aws-upload aws-images aws-validate aws-create aws-change aws-apply aws-update aws-status aws-events aws-delete aws-cost aws-lint ssh-config tunnel

aws-policies: ## the policies of the service role and of the operators, with account, region, cluster and bucket filled in, in bin/policies
	@$(STACK) policies $(BIN)/policies

aws-grant: aws-policies ## (administrator) make the service role and the group of operators with its seven policies
	@$(STACK) grant $(BIN)/policies

aws-key: ## make the key pair and keep its private half in KEY_FILE
	@$(STACK) key $(KEY_FILE)

aws-image: ## the newest Debian 13 image in the region
	@$(AWS) --region $(REGION) ssm get-parameter --name /aws/service/debian/release/13/latest/amd64 --query Parameter.Value --output text

aws-bucket: ## make the private, encrypted bucket of releases
	@$(STACK) bucket

aws-upload: ## put the templates and the files of a node into the bucket, as RELEASE
	@$(STACK) upload '$(RELEASE)' $(BIN)

aws-images: ## put the images of `make prod-build` there too (not needed with a registry)
	@$(STACK) images '$(RELEASE)' $(IMAGES)

aws-validate: ## let AWS parse the templates of RELEASE
	@$(STACK) validate '$(RELEASE)'

aws-create: ## create the cluster and wait for it (20 to 40 minutes)
	@$(STACK) create '$(RELEASE)' $(PARAMETERS)

aws-change: ## show what a RELEASE or parameters named would change, and change nothing
	@$(STACK) change '$(NEXT)' $(PARAMETERS)

aws-apply: ## carry out what aws-change showed, and wait
	@$(STACK) apply

aws-update: ## change the cluster without looking first, and wait
	@$(STACK) update '$(NEXT)' $(PARAMETERS)

aws-status: ## the state of the stack, its parameters and addresses
	@$(STACK) status

aws-events: ## what went wrong in the stack and its parts
	@$(STACK) events

aws-delete: ## delete the cluster; snapshots of the databases and the WARC files stay
	@$(STACK) delete

aws-cost: ## what a cluster costs a month: make aws-cost CRAWLERS=5
	@deploy/aws/cost $(PARAMETERS)

aws-lint: ## cfn-lint, where it is installed (pip install cfn-lint), and our own checks
	cfn-lint --regions us-east-1 eu-central-1 --template cloudformation/*.yml
	$(GO) test ./cloudformation/...

ssh-config: ## the ssh aliases of the cluster: make ssh-config >> ~/.ssh/config
	@KEY_FILE=$(KEY_FILE) BASTION_USER=$(BASTION_USER) $(STACK) ssh-config

tunnel: ## the studio, RabbitMQ's console, Grafana, PostgreSQL, MongoDB, memcached and ZooKeeper on this machine's loopback, until Ctrl-C
	@$(STACK) tunnel $(NODE)
