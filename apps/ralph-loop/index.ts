export { findingsVerify, missionAssign, missionRecover, missionRule } from './agents/capabilities.ts';
export { type RevisedRequest, revised } from './agents/revise.ts';
export { loopAgents, missingLoopAgents, type TeamMember } from './agents/loop-agents.ts';
export { CodeWork, type CodeWorkDeps } from './code/code-work.ts';
export { evidenceAt, findingId, maskRanges, sha256, type TextRange } from './findings/evidence.ts';
export { AuditReport, Finding, Note, RefusedFinding, SEVERITIES, Severity } from './findings/finding.ts';
export { MAX_FILE_BYTES, type ReadResult, readSource, type SkipKind } from './findings/read-source.ts';
export { bySeverityThenPlace } from './findings/severity-order.ts';
export { SourceText } from './findings/source-text.ts';
export { Verification } from './findings/verification.ts';
export { verifyFindings } from './findings/verify-findings.ts';
export { REPOSITORY_ROOT, repositoryRoot, type RepositoryRoot } from './findings/repository-root.ts';
export { GateReceipt } from './gates/gate-receipt.ts';
export type { GateEvent } from './gates/run-gates.ts';
export { EarlierResult } from './loop/earlier-result.ts';
export { Attempt } from './loop/attempt.ts';
export type { Choice } from './loop/choice.ts';
export type { LoopEvent } from './loop/loop-event.ts';
export type { MissionOutcome } from './loop/mission-outcome.ts';
export { type MissionProgress, openProgress } from './loop/mission-progress.ts';
export type { MissionControl, RunMissionDeps, RunMissionOptions } from './loop/mission-run.ts';
export { runMission } from './loop/run-mission.ts';
export { EXIT_CODES, StopReason } from './loop/stop-reason.ts';
export { taskMachine } from './loop/task.machine.ts';
export { isBusy, isDone, isOver, TaskStatus } from './loop/task-status.ts';
export { TaskResult } from './loop/task-result.ts';
export type { Team } from './loop/team.ts';
export { wallClock } from './loop/wall-clock.ts';
export { changesCode } from './mission/changes-code.ts';
export { findMissions, isOwnMission, onlyMission } from './mission/find-missions.ts';
export {
  ATTEMPT_TIMEOUT_MS,
  type BackendProgram,
  backendId,
  backendProgram,
  capabilitiesOf,
  Mission,
  MissionBackend,
  MissionCode,
  MissionGate,
  MissionLimits,
  MissionTask,
  reviewerId,
  setupGate,
} from './mission/mission.ts';
export { type MissionBounds, missionBounds } from './mission/mission-bounds.ts';
export { DEFAULTS_FILES, type PlacedDefaults, readDefaults } from './mission/mission-defaults.ts';
export { MissionError } from './mission/mission-error.ts';
export { type MissionGraph, missionGraph } from './mission/mission-graph.ts';
export { missionJsonSchema } from './mission/mission-schema.ts';
export type { MissionFormat, MissionSource } from './mission/mission-source.ts';
export { type NamedVariable, namedVariables } from './mission/named-variables.ts';
export { nearest } from './mission/nearest.ts';
export { parseMission, readMission } from './mission/read-mission.ts';
export {
  type ReadMissionOptions,
  readMissionSource,
  type SourcedMission,
} from './mission/read-mission-source.ts';
export { type SyncedMission, syncMission } from './mission/sync-mission.ts';
export { overlapWarning } from './worktrees/overlap.ts';
export { buildReport, type ReportOptions } from './report/build-report.ts';
export { htmlReport } from './report/html-report.ts';
export { Baseline } from './report/baseline.ts';
export { RuleLevel } from './report/sift-findings.ts';
export { choiceWords } from './report/choice-words.ts';
export { explainTask } from './report/explain-task.ts';
export { firstLine } from './loop/first-line.ts';
export { gatherReceipts } from './report/gather-receipts.ts';
export { MissionReport, Receipts, type ReportedFinding, TaskReport } from './report/mission-report.ts';
export { coloured, type Paint, plain } from './report/paint.ts';
export { count, duration, printable } from './report/printable.ts';
export { pullRequestText } from './report/pull-request-text.ts';
export { sarifReport } from './report/sarif-report.ts';
export type { SkillsReport } from './report/skills-report.ts';
export {
  addedUp,
  advanceSpending,
  NO_SPENDING,
  type Spending,
  type TaskSpending,
  usedBy,
} from './report/spending.ts';
export { table } from './report/table.ts';
export { shortUsage, usageText } from './report/usage-text.ts';
export { MissionSkills } from './skills/mission-skills.ts';
export { ratedFindingLine, type ReportDetail, terminalReport } from './report/terminal-report.ts';
export { OWN_FOLDER } from './worktrees/exclude-own-files.ts';
export { fitName } from './worktrees/fit-name.ts';
