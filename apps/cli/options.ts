/** What an option takes: nothing, or a value that help calls `value`. */
export interface OptionSpec {
  readonly value?: string;
  readonly help: string;
}

export interface CommandSpec {
  readonly arguments: readonly string[];
  readonly help: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
}

const HELP: OptionSpec = { help: 'Show this help' };
const WORKERS: OptionSpec = {
  value: 'N',
  help: 'Worker threads for the agents, 1 to 64 (default: 1)',
};

/** Everything that can be typed after `orrery`. */
export const COMMANDS = {
  run: {
    arguments: ['MISSION'],
    help: 'Run a mission file (default: an audit of the repository)',
    options: {
      repo: { value: 'PATH', help: 'The repository to work on (default: the current folder)' },
      json: { value: 'FILE', help: 'Write the report as JSON' },
      sarif: { value: 'FILE', help: 'Write the findings as SARIF 2.1.0' },
      html: { value: 'FILE', help: 'Write the report as one page of HTML' },
      'fail-on': {
        value: 'SEVERITY',
        help: 'Exit with 1 on findings from this severity on: critical, high, medium, low, info',
      },
      explain: { value: 'TASK', help: 'Show who proposed, accepted, refused and did a task, and why' },
      record: { value: 'FILE', help: 'Write every event of the system as JSON lines' },
      journal: { value: 'FILE', help: 'Keep in FILE what is accepted, so that it outlives this process' },
      resume: { help: 'Go on with the mission that the journal has' },
      workers: WORKERS,
      help: HELP,
    },
  },
  simulate: {
    arguments: ['MISSION'],
    help: 'Run a mission in virtual time under faults, seed after seed',
    options: {
      repo: { value: 'PATH', help: 'The repository to work on (default: the current folder)' },
      seeds: { value: 'N', help: 'How many seeds to try (default: 20)' },
      'first-seed': { value: 'N', help: 'The first of them (default: 1)' },
      record: {
        value: 'FILE',
        help: 'Write the trace of the first seed that breaks something as JSON lines',
      },
      workers: WORKERS,
      help: HELP,
    },
  },
  journal: {
    arguments: ['FILE'],
    help: 'Show what a journal keeps for whom, and have it forget',
    options: {
      forget: { value: 'AGENT', help: 'Delete everything that it keeps for this agent' },
      json: { help: 'Print JSON instead of a table' },
      help: HELP,
    },
  },
  agents: {
    arguments: [],
    help: 'Start the team and show who is in it',
    options: {
      json: { help: 'Print JSON instead of a table' },
      workers: WORKERS,
      help: HELP,
    },
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;
