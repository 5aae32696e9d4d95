/** The API's types under the names that the page uses, all derived from the OpenAPI schema. */

import type { Held, TopologyDocument } from "../graph/document";
import type { components, paths } from "../schema";

type Schemas = components["schemas"];
type QueryOf<Path extends { get: { parameters: { query?: unknown } } }> = NonNullable<
  Path["get"]["parameters"]["query"]
>;

export type { TopologyDocument } from "../graph/document";

/** The query of every paged list. */
export type PageQuery = QueryOf<paths["/api/tokens"]>;
export type StateDifference = Readonly<Schemas["StateDifference"]>;
export type Program = Schemas["ProgramRequest"];
export type ProgramRead = Readonly<Schemas["ProgramRead"]>;
export type Fragment = Readonly<Schemas["Fragment"]>;
export type FragmentUser = Readonly<Schemas["FragmentUser"]>;
export type Role = Schemas["Role"];
export type Workspace = Schemas["Workspace"];
export type Session = Schemas["Session"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditEntryPage = Schemas["AuditEntryPage"];
export type Member = Schemas["Member"];
export type MemberPage = Schemas["MemberPage"];
export type NewMember = Schemas["NewMemberRequest"];
export type AddedMember = Schemas["AddedMember"];
export type WorkspaceRules = Schemas["WorkspaceRules"];
export type WorkspaceRulesChange = Schemas["WorkspaceRulesChangeRequest"];
export type Comment = Schemas["Comment"];
export type CommentReply = Schemas["Reply"];
export type MentionPage = Schemas["MentionPage"];
export type RepositoryState = Schemas["RepositoryState"];
export type Repository = Schemas["Repository"];
export type NewRepository = Schemas["NewRepositoryRequest"];
export type GitFailure = Schemas["GitFailure"];
export type OutsideChange = Schemas["OutsideChange"];
export type OutsideChangeDetail = Omit<
  Schemas["OutsideChangeDetail"],
  "theirs" | "mine" | "base"
> & {
  theirs: TopologyDocument | null;
  mine: Version | null;
  base: Version | null;
};
export type WorkspaceContents = Schemas["WorkspaceContents"];
export type WorkspaceSettings = Schemas["WorkspaceSettings"];
export type WorkspaceSettingsPage = Schemas["WorkspaceSettingsPage"];
export type AccountPage = Schemas["AccountOverviewPage"];
export type Account = Schemas["AccountOverview"];
export type AccountChange = Schemas["PatchedAccountChangeRequest"];
export type NewWorkspace = Schemas["NewWorkspaceRequest"];
export type CreatedWorkspace = Schemas["CreatedWorkspace"];
export type AbandonedDraftPage = Schemas["AbandonedDraftPage"];
export type OwnDraftPage = Schemas["OwnDraftPage"];
export type TokenPage = Schemas["TokenPage"];
export type CreatedToken = Schemas["CreatedToken"];
export type Template = Schemas["Template"];
export type Tried = Schemas["Tried"];
export type Generator = Schemas["Generator"];
export type GeneratorPage = Schemas["GeneratorPage"];
export type NewGenerator = Schemas["NewGeneratorRequest"];
export type GeneratorChange = Schemas["GeneratorChangeRequest"];
export type Recipe = Schemas["RecipeRequest"];
export type DocumentFormat = Schemas["DocumentFormat"];
export type FieldRule = Schemas["FieldRuleRequest"];
export type ExpressionTrial = Schemas["ExpressionTrialRequest"];
export type TriedValue = Schemas["TriedValue"];
export type SampleRequest = Schemas["SampleRequestRequest"];
export type TopicUse = Schemas["TopicUse"];
export type FollowRequest = Schemas["FollowRequestRequest"];
export type FollowedRecord = Schemas["FollowedRecord"];
export type Beginning = Schemas["Beginning"];
export type FollowedPlace = Schemas["FollowedPlace"];

export type NewTopology = Omit<Partial<Schemas["NewTopologyRequest"]>, "document" | "name"> & {
  name: string;
  document?: TopologyDocument;
};
export type TopologySummary = Schemas["Topology"];
export type TopologyQuery = QueryOf<paths["/api/workspaces/{workspace}/topologies"]>;
export type TopologyPage = Schemas["TopologyPage"];
export type VersionSummary = Schemas["VersionSummary"];

export type CompileResult = Held<Schemas["CompileResult"]>;
/** A form with names in braces, and for each name a text or another sentence. */
export type Sentence = Held<Schemas["Sentence"]>;
export type Diagnostic = Held<Schemas["Diagnostic"]>;
export type Difference = Held<Schemas["Difference"]>;
export type PortType = Held<Schemas["PortType"]>;
export type Plan = Held<Schemas["Plan"]>;
export type Subtopology = Held<Schemas["Subtopology"]>;
export type GeneratedCode = Held<Schemas["GeneratedCode"]>;
export type SourceMapEntry = Held<Schemas["SourceSpan"]>;

export type Observed = Schemas["Observed"];
export type Deployment = Schemas["Deployment"];
export type ScheduleTimes = Schemas["TimesRequest"];
export type NewSchedule = Schemas["NewScheduleRequest"];
export type DeploymentStep = Schemas["Step"];
export type DeploymentSettings = Schemas["SettingsRequest"];
export type Failure = Schemas["Failure"];
export type Promotion = Schemas["Promotion"];
export type DeploymentBrief = Schemas["DeploymentBrief"];
export type StatePlan = Schemas["StatePlan"];
export type OldState = Schemas["OldState"];
export type Shadow = Schemas["Shadow"];
export type ShadowStart = Schemas["ShadowStart"];
export type OutputComparison = Schemas["OutputComparison"];
export type RecordDecision = Schemas["RecordDecisionRequest"];
export type StartPosition = Schemas["StartPosition"];
export type StartRequest = Schemas["StartRequest"];
export type StateStore = Schemas["Store"];
export type StateStores = Schemas["Stores"];
export type StorePage = Schemas["StorePage"];
export type StoreAnswer = Schemas["StoreAnswer"];
export type StoreQuery = QueryOf<paths["/api/deployments/{deployment}/stores/{store}"]>;
export type StoreChange = Schemas["StoreChange"];
export type Outage = Schemas["Outage"];
export type RunRecord = Schemas["EndedRun"];
export type Alert = Schemas["Alert"];
export type AlertPage = Schemas["AlertPage"];
export type AlertQuery = QueryOf<paths["/api/workspaces/{workspace}/alerts"]>;
export type AlertRule = Schemas["AlertRule"];
export type AlertRulePage = Schemas["AlertRulePage"];
export type NewAlertRule = Omit<AlertRule, "id" | "topology_name" | "updated_by" | "updated_at">;
export type TestedReceiver = Schemas["Tested"];
export type Placement = Schemas["Placement"];
export type PlacementQuery = QueryOf<paths["/api/deployments/{deployment}/placements"]>;
export type PlacementPage = Schemas["PlacementPage"];
export type Figures = Schemas["Figures"];

export type Runtime = Schemas["Runtime"];
export type TaskReport = Schemas["Task"];
export type EdgeRecords = Schemas["Samples"];
export type EdgeRecord = Schemas["SampledRecord"];
export type MissingTopic = Schemas["MissingTopic"];
export type Topic = Schemas["Topic"];
export type NewTopic = Schemas["NewTopicRequest"];
export type KafkaCluster = Schemas["KafkaCluster"];
export type TopicFiguresPage = Schemas["TopicFiguresPage"];
export type TopicFigures = Schemas["TopicFigures"];
export type TopicDetail = Schemas["TopicDetail"];
export type ConsumerGroups = Schemas["ConsumerGroups"];
export type TopicRecord = Schemas["Record"];
export type RawRecord = Schemas["RawRecord"];
export type RecordPage = Schemas["RecordPage"];
export type RecordPart = Schemas["RecordPart"];
export type RecordFormat = Schemas["RecordFormat"];
export type KeyFormat = Schemas["KeyFormat"];
/** The formats in which records are read. */
export type FormatsQuery = Partial<Schemas["ReadRecordRequest"]>;
export type RecordsQuery = Partial<Schemas["ReadRecordsRequest"]>;
export type NewRecord = Schemas["NewRecordRequest"];
export type LogLine = Schemas["LogLine"];
export type LogPage = Schemas["LogPage"];

export type Simulation = Schemas["Simulation"];
export type SimulationProgress = Schemas["SimulationProgress"];
export type CheckedCondition = NonNullable<CompileResult["conditions"]>[number];
export type Condition = Schemas["ExpectedConditionRequest"];
export type SimulationResult = Schemas["SimulationResult"];
export type SimulationStep = Schemas["SimulationStep"];
export type PlainSimulation = Schemas["PlainSimulation"];
export type PlainComparison = NonNullable<PlainSimulation["comparison"]>;
export type PlainTopic = PlainComparison["topics"][number];
export type PlainRow = PlainTopic["rows"][number];
export type PlainOutput = NonNullable<PlainRow["spark"]>;
export type Cut = PlainSimulation["cut"];
export type StoreRow = Schemas["StoreRow"];
export type TopologyTest = Schemas["TopologyTest"];
export type TopologyTestPage = Schemas["TopologyTestPage"];
export type Verification = Schemas["Verification"];
export type DifferenceSearch = Schemas["Search"];
export type DifferingInput = Schemas["DifferingInput"];
export type NewTopologyTest = Schemas["TopologyTestRequest"];

export type LiveSnapshot = Schemas["LiveSnapshot"];
export type PresentUser = Schemas["PresentUser"];

/** A draft and a version, with the document in the page's type. */
export type Draft = Omit<Schemas["Draft"], "document"> & { document: TopologyDocument };
export type Version = Omit<Schemas["Version"], "document"> & { document: TopologyDocument };
