package fakeaws

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/policy"
)

// permission is what CloudFormation must be allowed to do with a resource type, as the service role, at the resource
// that arn names.
type permission struct {
	create, update, delete string // actions, separated by blanks
	arn                    func(id string) string
}

func under(service, kind string) func(string) string {
	return func(id string) string { return "arn:aws:" + service + ":" + Region + ":" + Account + ":" + kind + id }
}

func itself(id string) string { return id }

func iam(kind string) func(string) string {
	return func(id string) string { return "arn:aws:iam::" + Account + ":" + kind + "/" + id }
}

var ec2 = under("ec2", "*/")

// Permissions says what CloudFormation does for each resource type, as far as our templates use it. Written from the
// handlers' permissions in AWS's resource registry, without what is only for properties that we do not set.
var permissions = map[string]permission{
	"AWS::CloudFormation::Stack": {"cloudformation:CreateStack cloudformation:DescribeStacks " +
		"cloudformation:DescribeStackEvents", "cloudformation:UpdateStack cloudformation:CreateChangeSet " +
		"cloudformation:DescribeChangeSet cloudformation:ExecuteChangeSet cloudformation:DeleteChangeSet",
		"cloudformation:DeleteStack", itself},
	"AWS::CloudFormation::WaitCondition": {"", "", "", itself},
	"AWS::EC2::VPC": {"ec2:CreateVpc ec2:DescribeVpcs ec2:ModifyVpcAttribute ec2:CreateTags",
		"ec2:ModifyVpcAttribute ec2:CreateTags ec2:DeleteTags", "ec2:DeleteVpc ec2:DescribeVpcs", ec2},
	"AWS::EC2::Subnet": {"ec2:CreateSubnet ec2:DescribeSubnets ec2:CreateTags " +
		"ec2:ModifySubnetAttribute ec2:DescribeAvailabilityZones", "ec2:ModifySubnetAttribute ec2:CreateTags ec2:DeleteTags",
		"ec2:DeleteSubnet ec2:DescribeSubnets", ec2},
	"AWS::EC2::InternetGateway": {"ec2:CreateInternetGateway ec2:CreateTags ec2:DescribeInternetGateways",
		"ec2:CreateTags ec2:DeleteTags", "ec2:DeleteInternetGateway ec2:DescribeInternetGateways", ec2},
	"AWS::EC2::VPCGatewayAttachment": {"ec2:AttachInternetGateway ec2:DescribeInternetGateways",
		"ec2:AttachInternetGateway ec2:DetachInternetGateway", "ec2:DetachInternetGateway ec2:DescribeInternetGateways", ec2},
	"AWS::EC2::RouteTable": {"ec2:CreateRouteTable ec2:CreateTags ec2:DescribeRouteTables",
		"ec2:CreateTags ec2:DeleteTags", "ec2:DeleteRouteTable ec2:DescribeRouteTables", ec2},
	"AWS::EC2::Route": {"ec2:CreateRoute ec2:DescribeRouteTables",
		"ec2:ReplaceRoute ec2:DescribeRouteTables", "ec2:DeleteRoute ec2:DescribeRouteTables", ec2},
	"AWS::EC2::SubnetRouteTableAssociation": {"ec2:AssociateRouteTable ec2:DescribeRouteTables",
		"ec2:ReplaceRouteTableAssociation ec2:DescribeRouteTables", "ec2:DisassociateRouteTable ec2:DescribeRouteTables",
		ec2},
	"AWS::EC2::VPCEndpoint": {"ec2:CreateVpcEndpoint ec2:DescribeVpcEndpoints ec2:CreateTags",
		"ec2:ModifyVpcEndpoint ec2:DescribeVpcEndpoints", "ec2:DeleteVpcEndpoints ec2:DescribeVpcEndpoints", ec2},
	"AWS::EC2::SecurityGroup": {"ec2:CreateSecurityGroup ec2:AuthorizeSecurityGroupIngress " +
		"ec2:AuthorizeSecurityGroupEgress ec2:RevokeSecurityGroupEgress ec2:CreateTags ec2:DescribeSecurityGroups",
		"ec2:AuthorizeSecurityGroupIngress ec2:AuthorizeSecurityGroupEgress ec2:RevokeSecurityGroupIngress " +
			"ec2:RevokeSecurityGroupEgress ec2:DescribeSecurityGroups",
		"ec2:DeleteSecurityGroup ec2:DescribeInstances ec2:DescribeSecurityGroups", ec2},
	"AWS::EC2::SecurityGroupIngress": {"ec2:AuthorizeSecurityGroupIngress ec2:DescribeSecurityGroupRules",
		"ec2:AuthorizeSecurityGroupIngress ec2:RevokeSecurityGroupIngress",
		"ec2:RevokeSecurityGroupIngress ec2:DescribeSecurityGroupRules", ec2},
	"AWS::EC2::SecurityGroupEgress": {"ec2:AuthorizeSecurityGroupEgress ec2:RevokeSecurityGroupEgress " +
		"ec2:DescribeSecurityGroupRules", "ec2:AuthorizeSecurityGroupEgress ec2:RevokeSecurityGroupEgress",
		"ec2:RevokeSecurityGroupEgress ec2:DescribeSecurityGroupRules", ec2},
	"AWS::EC2::Instance": {"ec2:RunInstances ec2:DescribeInstances ec2:DescribeInstanceStatus " +
		"ec2:DescribeVolumes ec2:DescribeImages ec2:ModifyInstanceAttribute ec2:CreateTags",
		"ec2:StopInstances ec2:StartInstances ec2:ModifyInstanceAttribute ec2:ModifyInstanceMetadataOptions ec2:CreateTags " +
			"ec2:DeleteTags", "ec2:TerminateInstances ec2:DescribeInstances ec2:DescribeVolumes", ec2},
	"AWS::EC2::NetworkInterface": {
		"ec2:CreateNetworkInterface ec2:DescribeNetworkInterfaces ec2:CreateTags",
		"ec2:ModifyNetworkInterfaceAttribute ec2:DescribeNetworkInterfaces",
		"ec2:DeleteNetworkInterface ec2:DescribeNetworkInterfaces", ec2},
	"AWS::EC2::EIP": {"ec2:AllocateAddress ec2:AssociateAddress ec2:DescribeAddresses " +
		"ec2:CreateTags", "ec2:AssociateAddress ec2:DisassociateAddress ec2:DescribeAddresses",
		"ec2:ReleaseAddress ec2:DisassociateAddress ec2:DescribeAddresses", ec2},
	"AWS::EC2::NatGateway": {"ec2:CreateNatGateway ec2:DescribeNatGateways ec2:CreateTags",
		"ec2:CreateTags ec2:DeleteTags", "ec2:DeleteNatGateway ec2:DescribeNatGateways", ec2},
	"AWS::EC2::Volume": {"ec2:CreateVolume ec2:DescribeVolumes ec2:CreateTags",
		"ec2:ModifyVolume ec2:DescribeVolumesModifications",
		"ec2:CreateSnapshot ec2:DescribeSnapshots ec2:DeleteVolume ec2:DescribeVolumes ec2:CreateTags", ec2},
	"AWS::EC2::VolumeAttachment": {"ec2:AttachVolume ec2:DescribeVolumes",
		"ec2:AttachVolume ec2:DetachVolume", "ec2:DetachVolume ec2:DescribeVolumes", ec2},
	"AWS::EC2::LaunchTemplate": {"ec2:CreateLaunchTemplate ec2:DescribeLaunchTemplates ec2:CreateTags",
		"ec2:CreateLaunchTemplateVersion ec2:ModifyLaunchTemplate ec2:DescribeLaunchTemplateVersions",
		"ec2:DeleteLaunchTemplate ec2:DescribeLaunchTemplates", ec2},
	"AWS::AutoScaling::AutoScalingGroup": {"autoscaling:CreateAutoScalingGroup " +
		"autoscaling:DescribeAutoScalingGroups autoscaling:DescribeScalingActivities autoscaling:EnableMetricsCollection " +
		"autoscaling:PutLifecycleHook autoscaling:CreateOrUpdateTags ec2:RunInstances iam:CreateServiceLinkedRole",
		"autoscaling:UpdateAutoScalingGroup autoscaling:SuspendProcesses autoscaling:ResumeProcesses " +
			"autoscaling:TerminateInstanceInAutoScalingGroup autoscaling:DescribeAutoScalingGroups " +
			"autoscaling:DescribeLifecycleHooks autoscaling:PutLifecycleHook autoscaling:DeleteLifecycleHook " +
			"autoscaling:EnableMetricsCollection autoscaling:DisableMetricsCollection autoscaling:CreateOrUpdateTags " +
			"autoscaling:DeleteTags autoscaling:AttachLoadBalancerTargetGroups autoscaling:DetachLoadBalancerTargetGroups " +
			"autoscaling:DescribeLoadBalancerTargetGroups",
		"autoscaling:DeleteAutoScalingGroup autoscaling:UpdateAutoScalingGroup autoscaling:DescribeAutoScalingGroups",
		under("autoscaling", "autoScalingGroup:1:autoScalingGroupName/")},
	"AWS::ElasticLoadBalancingV2::LoadBalancer": {"elasticloadbalancing:CreateLoadBalancer " +
		"elasticloadbalancing:DescribeLoadBalancers elasticloadbalancing:ModifyLoadBalancerAttributes " +
		"elasticloadbalancing:AddTags iam:CreateServiceLinkedRole", "elasticloadbalancing:ModifyLoadBalancerAttributes " +
		"elasticloadbalancing:SetSecurityGroups elasticloadbalancing:SetSubnets elasticloadbalancing:AddTags " +
		"elasticloadbalancing:RemoveTags elasticloadbalancing:DescribeLoadBalancers",
		"elasticloadbalancing:DeleteLoadBalancer elasticloadbalancing:DescribeLoadBalancers", itself},
	"AWS::ElasticLoadBalancingV2::TargetGroup": {"elasticloadbalancing:CreateTargetGroup " +
		"elasticloadbalancing:DescribeTargetGroups elasticloadbalancing:ModifyTargetGroupAttributes " +
		"elasticloadbalancing:AddTags", "elasticloadbalancing:ModifyTargetGroup " +
		"elasticloadbalancing:ModifyTargetGroupAttributes elasticloadbalancing:AddTags elasticloadbalancing:RemoveTags " +
		"elasticloadbalancing:DescribeTargetGroups",
		"elasticloadbalancing:DeleteTargetGroup elasticloadbalancing:DescribeTargetGroups", itself},
	"AWS::ElasticLoadBalancingV2::Listener": {"elasticloadbalancing:CreateListener elasticloadbalancing:DescribeListeners",
		"elasticloadbalancing:ModifyListener elasticloadbalancing:DescribeListeners",
		"elasticloadbalancing:DeleteListener elasticloadbalancing:DescribeListeners", itself},
	"AWS::RDS::DBInstance": {"rds:CreateDBInstance rds:DescribeDBInstances rds:AddTagsToResource " +
		"iam:CreateServiceLinkedRole", "rds:ModifyDBInstance rds:RebootDBInstance rds:DescribeDBInstances " +
		"rds:AddTagsToResource rds:RemoveTagsFromResource",
		"rds:CreateDBSnapshot rds:DescribeDBSnapshots rds:DeleteDBInstance rds:DescribeDBInstances", under("rds", "db:")},
	"AWS::RDS::DBSubnetGroup": {"rds:CreateDBSubnetGroup rds:DescribeDBSubnetGroups rds:AddTagsToResource " +
		"rds:ListTagsForResource", "rds:ModifyDBSubnetGroup rds:DescribeDBSubnetGroups", "rds:DeleteDBSubnetGroup",
		under("rds", "subgrp:")},
	"AWS::RDS::DBParameterGroup": {"rds:CreateDBParameterGroup rds:ModifyDBParameterGroup rds:DescribeDBParameters " +
		"rds:DescribeEngineDefaultParameters rds:AddTagsToResource rds:ListTagsForResource",
		"rds:ModifyDBParameterGroup rds:ResetDBParameterGroup rds:DescribeDBParameters", "rds:DeleteDBParameterGroup",
		under("rds", "pg:")},
	"AWS::ElastiCache::CacheCluster": {"elasticache:CreateCacheCluster elasticache:DescribeCacheClusters " +
		"elasticache:AddTagsToResource iam:CreateServiceLinkedRole",
		"elasticache:ModifyCacheCluster elasticache:DescribeCacheClusters elasticache:RemoveTagsFromResource",
		"elasticache:DeleteCacheCluster elasticache:DescribeCacheClusters", under("elasticache", "cluster:")},
	"AWS::ElastiCache::SubnetGroup": {"elasticache:CreateCacheSubnetGroup elasticache:DescribeCacheSubnetGroups " +
		"elasticache:AddTagsToResource elasticache:ListTagsForResource", "elasticache:ModifyCacheSubnetGroup",
		"elasticache:DeleteCacheSubnetGroup", under("elasticache", "subnetgroup:")},
	"AWS::SecretsManager::Secret": {"secretsmanager:CreateSecret secretsmanager:GetRandomPassword " +
		"secretsmanager:DescribeSecret secretsmanager:TagResource",
		"secretsmanager:UpdateSecret secretsmanager:TagResource secretsmanager:UntagResource",
		"secretsmanager:DeleteSecret secretsmanager:DescribeSecret", itself},
	"AWS::S3::Bucket": {"s3:CreateBucket s3:PutEncryptionConfiguration s3:PutBucketPublicAccessBlock " +
		"s3:PutBucketOwnershipControls s3:PutLifecycleConfiguration s3:PutBucketTagging s3:ListBucket",
		"s3:PutEncryptionConfiguration s3:PutBucketPublicAccessBlock s3:PutBucketOwnershipControls " +
			"s3:PutLifecycleConfiguration s3:GetEncryptionConfiguration s3:GetBucketPublicAccessBlock " +
			"s3:GetBucketOwnershipControls s3:GetLifecycleConfiguration", "",
		func(id string) string { return "arn:aws:s3:::" + id }},
	"AWS::S3::BucketPolicy": {"s3:PutBucketPolicy s3:GetBucketPolicy", "s3:PutBucketPolicy s3:GetBucketPolicy",
		"s3:DeleteBucketPolicy s3:GetBucketPolicy", func(id string) string { return "arn:aws:s3:::" + strings.ToLower(id) }},
	"AWS::Logs::LogGroup": {"logs:CreateLogGroup logs:PutRetentionPolicy logs:DescribeLogGroups logs:TagResource " +
		"logs:ListTagsForResource", "logs:PutRetentionPolicy logs:DeleteRetentionPolicy logs:UntagResource",
		"logs:DeleteLogGroup logs:DescribeLogGroups", under("logs", "log-group:")},
	"AWS::IAM::Role": {"iam:CreateRole iam:PutRolePolicy iam:AttachRolePolicy iam:GetRole iam:GetRolePolicy " +
		"iam:ListRolePolicies iam:ListAttachedRolePolicies iam:TagRole", "iam:UpdateRole iam:UpdateAssumeRolePolicy " +
		"iam:PutRolePolicy iam:DeleteRolePolicy iam:AttachRolePolicy iam:DetachRolePolicy iam:UntagRole",
		"iam:DeleteRole iam:DeleteRolePolicy iam:DetachRolePolicy iam:ListRolePolicies iam:ListAttachedRolePolicies " +
			"iam:GetRole", iam("role")},
	"AWS::IAM::ManagedPolicy": {"iam:CreatePolicy iam:GetPolicy iam:ListPolicyVersions iam:GetPolicyVersion",
		"iam:CreatePolicyVersion iam:DeletePolicyVersion iam:ListPolicyVersions",
		"iam:DeletePolicy iam:DeletePolicyVersion iam:ListPolicyVersions iam:ListEntitiesForPolicy", itself},
	"AWS::IAM::InstanceProfile": {"iam:CreateInstanceProfile iam:AddRoleToInstanceProfile iam:GetInstanceProfile",
		"iam:AddRoleToInstanceProfile iam:RemoveRoleFromInstanceProfile",
		"iam:RemoveRoleFromInstanceProfile iam:DeleteInstanceProfile iam:GetInstanceProfile", iam("instance-profile")},
	"AWS::SNS::Topic": {"sns:CreateTopic sns:GetTopicAttributes sns:TagResource sns:ListTagsForResource",
		"sns:SetTopicAttributes sns:GetTopicAttributes sns:UntagResource",
		"sns:DeleteTopic sns:GetTopicAttributes sns:ListSubscriptionsByTopic", itself},
	"AWS::SNS::Subscription": {"sns:Subscribe sns:GetSubscriptionAttributes", "sns:Subscribe", "sns:Unsubscribe", itself},
	"AWS::CloudWatch::Alarm": {"cloudwatch:PutMetricAlarm cloudwatch:DescribeAlarms cloudwatch:ListTagsForResource",
		"cloudwatch:PutMetricAlarm cloudwatch:DescribeAlarms", "cloudwatch:DeleteAlarms cloudwatch:DescribeAlarms",
		under("cloudwatch", "alarm:")},
}

// permitted asks whether the service role may do what a change of a resource takes. Callers hold the lock.
func (s *Server) permitted(st *stack, kind, what, id string, properties map[string]any) error {
	p, ok := permissions[kind]
	if !ok {
		return fmt.Errorf("the fake does not know what %s needs", kind)
	}
	actions := map[string]string{"create": p.create, "update": p.update, "delete": p.delete}[what]
	for _, action := range strings.Fields(actions) {
		resource := p.arn(id)
		var keys []string
		switch {
		case action == "iam:CreateServiceLinkedRole":
			service := strings.TrimSuffix(strings.ToLower(strings.Split(kind, "::")[1]), "v2") + ".amazonaws.com"
			resource, keys = "arn:aws:iam::"+Account+":role/aws-service-role/"+service+"/x",
				[]string{"iam:AWSServiceName", service}
		case action == "iam:AttachRolePolicy" || action == "iam:DetachRolePolicy":
			for _, arn := range list(properties["ManagedPolicyArns"]) {
				keys = []string{"iam:PolicyARN", text(arn)}
			}
			if keys == nil {
				continue
			}
		case action == "ec2:RunInstances" || what == "update" && strings.HasPrefix(action, "ec2:"):
			resource = ec2(id)
		case strings.Contains(action, ":Describe") && !strings.HasPrefix(action, "cloudformation:") &&
			action != "secretsmanager:DescribeSecret", strings.Contains(action, "GetRandomPassword"):
			resource = "*"
		}
		// each of its groups must be allowed, the option group that nobody names as well
		if action == "rds:CreateDBInstance" || action == "rds:ModifyDBInstance" {
			group := "arn:aws:rds:" + Region + ":" + Account + ":og:default:" + text(properties["Engine"]) + "-" +
				text(properties["EngineVersion"])
			if err := s.roleMay(st, action, group); err != nil {
				return err
			}
		}
		keys = append(keys, "aws:ResourceTag/aws:cloudformation:stack-name", st.name)
		if err := s.roleMay(st, action, resource, keys...); err != nil {
			return err
		}
	}
	if profile := text(properties["IamInstanceProfile"]); profile != "" && what == "create" {
		return s.passed(st, profile)
	}
	return nil
}

// passed asks whether the service role may give machines the role of a profile.
func (s *Server) passed(st *stack, profile string) error {
	p, err := s.need("AWS::IAM::InstanceProfile", profile)
	if err != nil {
		return err
	}
	for _, role := range list(p.Props["Roles"]) {
		if err := s.roleMay(st, "iam:PassRole", "arn:aws:iam::"+Account+":role/"+text(role), "iam:PassedToService",
			"ec2.amazonaws.com"); err != nil {
			return err
		}
	}
	return nil
}

// roleMay asks whether the service role of a stack may do this.
func (s *Server) roleMay(st *stack, action, resource string, keys ...string) error {
	role := s.roles[st.role]
	if role == nil || !policy.Allowed([]*policy.Policy{role}, request(action, resource, keys...)) {
		return &apiError{http.StatusForbidden, "AccessDenied",
			"role " + st.role + " is not authorized to perform: " + action + " on resource: " + resource}
	}
	return nil
}

// Needs returns the actions that CloudFormation must be allowed for these resource types, sorted.
func Needs(types []string) ([]string, error) {
	// fetching templates, giving roles, resolving secrets
	all := map[string]bool{"s3:GetObject": true, "iam:PassRole": true, "secretsmanager:GetSecretValue": true}
	for _, t := range types {
		p, ok := permissions[t]
		if !ok {
			return nil, fmt.Errorf("the fake does not know what %s needs", t)
		}
		for _, action := range strings.Fields(p.create + " " + p.update + " " + p.delete) {
			all[action] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}
