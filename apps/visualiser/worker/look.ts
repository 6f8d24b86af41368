import type { NextTimer } from 'orrery';
import type {
  ConversationSummary,
  DeadLetterScene,
  Fact,
  GateScene,
  GuardFailure,
  Intensity,
  MachineStep,
  Note,
  Participant,
  SpendingPoint,
  SvgNode,
  TraceFault,
  Trouble,
} from '../model/index.ts';

/** Which moment is looked at: the newest, the one after so many entries, or a time. */
export type Moment =
  | { readonly kind: 'follow' }
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'time'; readonly atMs: number };

/** Rows of a long list that are in sight. */
export interface Window {
  readonly first: number;
  readonly count: number;
}

/** What a page wants to see. */
export type Query =
  | {
      readonly view: 'system';
      readonly window: Window;
      readonly text: string;
      readonly only: 'all' | 'busy' | 'trouble';
    }
  | { readonly view: 'graph' }
  | { readonly view: 'agent'; readonly id: string }
  | { readonly view: 'conversations'; readonly text: string; readonly window: Window }
  | { readonly view: 'conversation'; readonly id: string; readonly window: Window }
  | { readonly view: 'work' }
  | { readonly view: 'trouble' }
  | { readonly view: 'time' };

/** All that a page shows at one moment. `body` is what the query was for. */
export interface Look {
  readonly source: SourceLook;
  readonly clock: ClockLook;
  readonly summary: SummaryLook;
  readonly body: Body;
}

export interface SourceLook {
  readonly kind: 'none' | 'live' | 'trace';
  readonly state:
    | 'none'
    | 'connecting'
    | 'connected'
    | 'reconnecting'
    | 'wrong-token'
    | 'may-not-watch'
    | 'stopped'
    | 'opening'
    | 'opened';
  readonly text: string;
  readonly eventsPerSecond: number;
  readonly leftOut: number;
  /** Times that the connection was lost: what happened then is not here. */
  readonly gaps: number;
  readonly dropped: number;
  readonly name: string;
  readonly canUnlock: boolean;
  readonly hasLive: boolean;
  readonly trace: TraceLook | undefined;
}

export interface TraceLook {
  readonly name: string;
  readonly fraction: number;
  readonly isOpening: boolean;
  readonly events: number;
  readonly faults: readonly TraceFault[];
  readonly leftOutLines: number;
}

export interface ClockLook {
  readonly first: number;
  readonly length: number;
  readonly position: number;
  readonly atMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly startedAtMs: number;
  readonly isFollowing: boolean;
  /** How much happened in each part of the time. */
  readonly density: readonly number[];
}

export interface SummaryLook {
  readonly sentence: string;
  readonly name: string;
  readonly troubles: readonly Trouble[];
  readonly bad: number;
  readonly warnings: number;
}

export type Body =
  | SystemLook
  | GraphLook
  | AgentLook
  | ConversationsLook
  | ConversationLook
  | WorkLook
  | TroubleLook
  | TimeLook;

export interface SystemLook {
  readonly view: 'system';
  readonly rows: readonly TreeRow[];
  readonly first: number;
  readonly total: number;
  readonly agents: number;
  readonly counts: readonly { readonly status: string; readonly count: number }[];
  readonly rates: RatesLook;
  readonly account: AccountLook;
}

export interface RatesLook {
  readonly second: number;
  readonly sent: readonly number[];
  readonly settled: readonly number[];
  readonly failed: readonly number[];
}

export interface AccountLook {
  readonly sent: number;
  readonly handled: number;
  readonly rejected: number;
  readonly expired: number;
  readonly deadLettered: number;
  readonly refused: number;
  readonly inFlight: number;
  /** The team's own count, and whether it adds up; else what was seen here. */
  readonly holds: boolean | undefined;
}

export type TreeRow = NodeRow | PlaceRow | AgentRow;

export interface NodeRow {
  readonly kind: 'node';
  readonly key: string;
  readonly name: string;
  readonly status: string;
  readonly text: string;
}

export interface PlaceRow {
  readonly kind: 'place';
  readonly key: string;
  readonly id: string;
  readonly place: string;
  readonly text: string;
  readonly agents: number;
  readonly isAlive: boolean;
}

export interface AgentRow {
  readonly kind: 'agent';
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly tier: number | undefined;
  readonly status: string;
  readonly busy: BusyLook | undefined;
  readonly waitsFor: string | undefined;
  readonly waiting: number;
  readonly capacity: number | undefined;
  readonly restarts: number;
  readonly intensity: Intensity | undefined;
  readonly perSecond: number;
  readonly spark: readonly number[];
  readonly trouble: Trouble['level'] | undefined;
  readonly isTainted: boolean;
}

export interface BusyLook {
  readonly what: string;
  readonly from: string;
  readonly sinceMs: number;
  readonly fraction: number | undefined;
  readonly text: string;
  readonly conversationId: string | undefined;
}

export interface GraphLook {
  readonly view: 'graph';
  readonly nodes: readonly {
    readonly id: string;
    readonly name: string;
    readonly status: string;
    readonly isBusy: boolean;
    readonly isSystem: boolean;
  }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly count: number;
    readonly refused: number;
    readonly isRecent: boolean;
  }[];
  readonly leftOut: number;
}

export interface AgentLook {
  readonly view: 'agent';
  readonly id: string;
  readonly agent: AgentDetail | undefined;
}

export interface AgentDetail extends AgentRow {
  readonly version: string | undefined;
  readonly capabilities: readonly string[];
  readonly place: string | undefined;
  readonly node: string | undefined;
  readonly pid: number | undefined;
  readonly threadId: number | undefined;
  readonly group: string | undefined;
  readonly isolation: string | undefined;
  readonly sinceMs: number;
  readonly lastSeenMs: number;
  readonly retryAtMs: number | undefined;
  readonly parked: string | undefined;
  readonly sent: number;
  readonly handled: number;
  readonly failed: number;
  readonly taint: readonly string[];
  readonly lastError: { readonly atMs: number; readonly code: string; readonly text: string } | undefined;
  readonly machines: readonly MachineLook[];
  readonly waitsForWhom: readonly WaitLook[];
  readonly waitedForBy: readonly WaitLook[];
  readonly conversations: readonly ConversationSummary[];
  readonly troubles: readonly Trouble[];
}

export interface MachineLook {
  readonly key: string;
  readonly machine: string;
  readonly actorId: string;
  readonly agentId: string | undefined;
  readonly state: string;
  readonly sinceMs: number;
  readonly isOver: boolean;
  readonly nextTimer: NextTimer | undefined;
  readonly facts: readonly (readonly [string, Fact])[];
  readonly steps: readonly MachineStep[];
  readonly guards: readonly GuardFailure[];
}

export interface WaitLook {
  readonly envelopeId: string;
  readonly waiter: string;
  readonly waiterName: string;
  readonly awaited: string;
  readonly awaitedName: string;
  readonly capability: string | undefined;
  readonly conversationId: string | undefined;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  readonly isBegun: boolean;
  readonly attempts: number;
}

export interface ConversationsLook {
  readonly view: 'conversations';
  readonly conversations: readonly ConversationSummary[];
  readonly first: number;
  /** How many are like what is looked for, of which at most a thousand are listed. */
  readonly found: number;
  readonly total: number;
}

export interface ConversationLook {
  readonly view: 'conversation';
  readonly id: string;
  readonly isKnown: boolean;
  readonly participants: readonly Participant[];
  readonly width: number;
  readonly head: readonly SvgNode[];
  readonly rows: readonly SequenceRowLook[];
  readonly first: number;
  readonly total: number;
  readonly leftOut: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly troubles: number;
}

export interface SequenceRowLook {
  readonly at: number;
  readonly drawing: SvgNode;
  readonly text: string;
  readonly envelopeId: string | undefined;
  readonly isBad: boolean;
}

/** What there is to know of one row of a conversation. */
export interface RowDetail {
  readonly title: string;
  readonly fields: readonly (readonly [string, string])[];
  /** The envelope with its payload redacted, if the team gave it. */
  readonly envelope: string | undefined;
  readonly why: string | undefined;
}

export interface WorkLook {
  readonly view: 'work';
  readonly mission: MissionLook | undefined;
  readonly spending: {
    readonly tokens: number;
    readonly costUsd: number;
    readonly tokenLimit: number | undefined;
    readonly costLimit: number | undefined;
    readonly points: readonly SpendingPoint[];
  };
  readonly proposals: readonly ProposalLook[];
  readonly proposalTotal: number;
  readonly swarms: readonly SwarmLook[];
  readonly swarmNotes: readonly Note[];
  readonly tasks: readonly MachineLook[];
}

export interface MissionLook {
  readonly name: string;
  readonly beganAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly success: boolean | undefined;
  readonly reason: string | undefined;
  readonly pausedBy: string | undefined;
  readonly isGuessed: boolean;
  readonly done: number;
  readonly tasks: readonly TaskLook[];
}

export interface TaskLook {
  readonly id: string;
  readonly title: string | undefined;
  readonly state: string;
  readonly agentId: string | undefined;
  readonly agentName: string | undefined;
  readonly attempts: number;
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly gates: readonly GateScene[];
  readonly facts: readonly (readonly [string, Fact])[];
  readonly conversationId: string | undefined;
}

export interface ProposalLook {
  readonly id: string;
  readonly proposer: string | undefined;
  readonly capability: string | undefined;
  readonly conversationId: string | undefined;
  readonly state: string;
  readonly sinceMs: number;
  readonly beganAtMs: number;
  readonly deadlineAtMs: number | undefined;
  readonly bids: number | undefined;
  readonly assignee: string | undefined;
  readonly last: string | undefined;
}

export interface SwarmLook {
  readonly id: string;
  readonly owner: string | undefined;
  readonly objective: string;
  readonly state: string;
  readonly sinceMs: number;
  readonly isOver: boolean;
  readonly subTasks: readonly SubTaskLook[];
}

export interface SubTaskLook {
  readonly id: string;
  readonly capability: string;
  readonly state: string;
  readonly assignee: string | undefined;
  readonly epoch: number | undefined;
  readonly leaseUntilMs: number | undefined;
  readonly attempts: number | undefined;
  readonly reassignments: number;
  readonly isOver: boolean;
}

export interface TroubleLook {
  readonly view: 'trouble';
  readonly troubles: readonly Trouble[];
  readonly waits: readonly WaitLook[];
  readonly waitTotal: number;
  readonly deadLetters: readonly DeadLetterScene[];
  readonly deadLetterTotal: number;
  readonly security: readonly Note[];
  readonly failures: readonly Note[];
  readonly gaveUp: readonly Note[];
  readonly tainted: readonly {
    readonly id: string;
    readonly name: string;
    readonly sources: readonly string[];
  }[];
}

export interface TimeLook {
  readonly view: 'time';
  readonly entries: readonly EntryLook[];
  readonly current: EntryDetail | undefined;
  readonly machine: MachineLook | undefined;
  readonly moved: readonly MachineLook[];
}

export interface EntryLook {
  readonly number: number;
  readonly atMs: number;
  readonly type: string;
  readonly text: string;
  readonly isBad: boolean;
  readonly isCurrent: boolean;
}

export interface EntryDetail {
  readonly number: number;
  readonly text: string;
  readonly atMs: number;
  readonly conversationId: string | undefined;
  readonly agentId: string | undefined;
  readonly fields: readonly (readonly [string, string])[];
}
