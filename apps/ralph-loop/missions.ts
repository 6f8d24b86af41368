/** The entry `orrery/missions`: what programs need to run missions, and agents to answer their tasks. */
export { findingsVerify, missionAssign, missionRecover, missionRule } from './agents/capabilities.ts';
export { loopAgents, missingLoopAgents, type TeamMember } from './agents/loop-agents.ts';
export { CodeWork, type CodeWorkDeps } from './code/code-work.ts';
export { AuditReport, Finding, Note, Severity } from './findings/finding.ts';
export { findingAt, type Seen } from './findings/finding-at.ts';
export { SourceText } from './findings/source-text.ts';
export { Verification } from './findings/verification.ts';
export { GateReceipt } from './gates/gate-receipt.ts';
export type { GateEvent } from './gates/run-gates.ts';
export { EarlierResult } from './loop/earlier-result.ts';
export type { LoopEvent } from './loop/loop-event.ts';
export type { MissionOutcome } from './loop/mission-outcome.ts';
export { type MissionProgress, openProgress } from './loop/mission-progress.ts';
export type { MissionControl, RunMissionDeps, RunMissionOptions } from './loop/mission-run.ts';
export { runMission } from './loop/run-mission.ts';
export { EXIT_CODES, StopReason } from './loop/stop-reason.ts';
export { TaskResult } from './loop/task-result.ts';
export type { TaskStatus } from './loop/task-status.ts';
export type { Team } from './loop/team.ts';
export { wallClock } from './loop/wall-clock.ts';
export type { RunProgram } from './mission/formats/run-program.ts';
export { findMissions, onlyMission } from './mission/find-missions.ts';
export {
  Mission,
  MissionBackend,
  MissionCode,
  MissionGate,
  MissionLimits,
  MissionTask,
} from './mission/mission.ts';
export { MissionDefaults, type PlacedDefaults, readDefaults } from './mission/mission-defaults.ts';
export { MissionError } from './mission/mission-error.ts';
export { missionJsonSchema } from './mission/mission-schema.ts';
export type { LeftOutTask, MissionFormat, MissionSource, TaskSource } from './mission/mission-source.ts';
export { parseMission, readMission } from './mission/read-mission.ts';
export {
  type ReadMissionOptions,
  readMissionSource,
  type SourcedMission,
} from './mission/read-mission-source.ts';
export { type SyncedMission, syncMission } from './mission/sync-mission.ts';
export { buildReport, type ReportOptions } from './report/build-report.ts';
export { htmlReport } from './report/html-report.ts';
export { MissionReport } from './report/mission-report.ts';
export { pullRequestText } from './report/pull-request-text.ts';
export { sarifReport } from './report/sarif-report.ts';
export { advanceSpending, NO_SPENDING, type Spending, type TaskSpending } from './report/spending.ts';
export { SkillsReport } from './report/skills-report.ts';
export { terminalReport } from './report/terminal-report.ts';
export { MissionSkills, type MissionSkillsDeps } from './skills/mission-skills.ts';
export { Remembered } from './skills/remembered.ts';
