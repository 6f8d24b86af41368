/** A text of help. `withoutAudit` is shown if the audit is not installed. */
export type Help = string | { readonly withAudit: string; readonly withoutAudit: string };

/** An option. `value` is the name of its value in help; without it the option takes none. */
export interface OptionSpec {
  readonly value?: string;
  readonly isRepeatable?: boolean;
  readonly help: Help;
}

export interface CommandSpec {
  readonly arguments: readonly string[];
  readonly help: Help;
  readonly options: Readonly<Record<string, OptionSpec>>;
}

const HELP: OptionSpec = { help: 'Show this help' };
const AGENTS: Help = {
  withAudit:
    'Modules of the agents, separated by commas (default: agents/*.agent.ts of this folder, else the planets)',
  withoutAudit:
    'Modules of the agents, separated by commas (default: agents/*.agent.ts of this folder, else SUN and MERCURY)',
};
/** Help for `run`, which depends on what runs without a mission. */
const RUN: Help = {
  withAudit:
    'Run a mission or a list of tasks (default: an audit of the repository, if that has none itself)',
  withoutAudit:
    'Run a mission; the audit of repositories comes with the repository of Orrery, not with the package',
};
const UNLOCK: OptionSpec = {
  help: 'Let whoever has a second token, which is printed, send dead letters again from the visualiser',
};
const SKILLS_STORE: OptionSpec = {
  value: 'STORE',
  help: 'Where they keep it: a file, a postgres:// URL, or env:NAME (default: .orrery/skills.sqlite)',
};
const WORKERS: OptionSpec = {
  value: 'N',
  help: 'Worker threads for the agents, 1 to 64 (default: 1)',
};

const BACKEND: OptionSpec = {
  value: 'NAMES',
  help: 'Coding agents, separated by commas: claude, codex, gemini, opencode, or as the mission names them',
};
const GATE: OptionSpec = {
  value: 'COMMAND',
  help: 'Accept a change only if this command ends with 0, for lists of tasks that name no gates',
};
const TAG: OptionSpec = {
  value: 'NAME',
  help: 'Which tasks are meant, in a tasks.json that has several tags',
};
const OF_REPOSITORY: OptionSpec = {
  value: 'PATH',
  help: 'The repository that it changes (default: that of the current folder)',
};
const OF_MISSION: OptionSpec = {
  value: 'NAME',
  help: 'The mission that the task is of (default: the only one that runs there)',
};
const STEERED = { repo: OF_REPOSITORY, help: HELP };
const TASK_STEERED = { mission: OF_MISSION, ...STEERED };

/** All commands, with their arguments and options. */
export const COMMANDS = {
  run: {
    arguments: ['MISSION'],
    help: RUN,
    options: {
      repo: { value: 'PATH', help: 'The repository to work on (default: the current folder)' },
      json: { value: 'FILE', help: 'Write the report as JSON' },
      sarif: { value: 'FILE', help: 'Write the findings as SARIF 2.1.0' },
      html: { value: 'FILE', help: 'Write the report as one page of HTML' },
      'pull-request': {
        value: 'FILE',
        help: 'Write the text of a pull request for what was changed, as Markdown',
      },
      'fail-on': {
        value: 'SEVERITY',
        help: 'Exit with 1 on findings from this severity on: critical, high, medium, low, info',
      },
      explain: { value: 'TASK', help: 'Show who proposed, accepted, refused and did a task, and why' },
      baseline: { value: 'FILE', help: 'Do not list findings that this former report (--json) has' },
      rule: {
        value: 'NAME=LEVEL',
        help: 'Rate the findings of a rule critical, high, medium, low or info, or turn them off',
        isRepeatable: true,
      },
      board: { help: 'On a terminal: show what every agent does' },
      quiet: { help: 'Print the findings and how the run ended, nothing else' },
      verbose: { help: 'Print everything that happens, every task and every note' },
      ndjson: {
        help: 'For scripts: print every event of the loop, and at last the report, as lines of JSON',
      },
      agents: { value: 'FILES', help: 'Modules of the agents, separated by commas' },
      backend: BACKEND,
      gate: GATE,
      tag: TAG,
      sync: { help: 'Mark in the list of tasks that the mission was read from what was accepted' },
      record: { value: 'FILE', help: 'Write every event of the system as JSON lines' },
      watch: { help: 'Show the run in the visualiser, also when it is over, until Ctrl-C' },
      'watch-port': { value: 'N', help: 'With --watch: the port, 0 for one that is free (default: 4710)' },
      unlock: UNLOCK,
      journal: { value: 'FILE', help: 'Keep in FILE what is accepted, so that it outlives this process' },
      resume: { help: 'Go on with the mission that the journal has' },
      anew: { help: 'Begin anew, although the last run of the mission was not finished' },
      skills: {
        help: 'Remember what the run learns, recall it in the next, and check the rules of the repository',
      },
      'skills-store': SKILLS_STORE,
      project: {
        value: 'NAME',
        help: "With --skills: what the repository is called there (default: its folder's name)",
      },
      workers: WORKERS,
      help: HELP,
    },
  },
  check: {
    arguments: ['FILE'],
    help: 'Say what a mission would do, and start nothing (default: the only mission of the repository)',
    options: {
      repo: { value: 'PATH', help: 'The repository, for its defaults (default: the current folder)' },
      tag: TAG,
      agents: { value: 'FILES', help: AGENTS },
      backend: BACKEND,
      gate: GATE,
      schema: { help: 'Print the JSON Schema of mission files instead' },
      json: { help: 'Print JSON instead of text' },
      help: HELP,
    },
  },
  ps: {
    arguments: [],
    help: 'Show the missions of a repository that run, and how the last run of each other one ended',
    options: { repo: OF_REPOSITORY, json: { help: 'Print JSON instead of text' }, help: HELP },
  },
  stop: {
    arguments: ['NAME'],
    help: 'Stop a mission that runs, as Ctrl-C does',
    options: STEERED,
  },
  pause: {
    arguments: ['NAME'],
    help: 'Begin no more tasks of a mission that runs; those that are worked on go on',
    options: STEERED,
  },
  continue: {
    arguments: ['NAME'],
    help: 'Go on with a mission that was paused',
    options: STEERED,
  },
  skip: {
    arguments: ['TASK'],
    help: 'End a task of a mission that runs, and its agent; what depends on it is blocked',
    options: TASK_STEERED,
  },
  approve: {
    arguments: ['TASK'],
    help: 'Let a change be merged that is held until somebody approves it',
    options: TASK_STEERED,
  },
  resume: {
    arguments: ['NAME'],
    help: 'Go on with a mission whose last run was not finished',
    options: STEERED,
  },
  init: {
    arguments: ['FOLDER'],
    help: 'Write a small team, a mission and a test into a folder (default: the current one)',
    options: {
      backend: {
        value: 'NAME',
        help: 'Instead: a mission for a coding agent, for a git repository: claude, codex, gemini, opencode, acp',
      },
      help: HELP,
    },
  },
  doctor: {
    arguments: [],
    help: 'Say what of this machine and folder fits, and what would start',
    options: {
      agents: { value: 'FILES', help: AGENTS },
      port: { value: 'N', help: 'The port that would be served on (default: 4710)' },
      approve: {
        help: 'Show what others say of their tools, and how that is approved once it has been read',
      },
      json: { help: 'Print JSON instead of text' },
      help: HELP,
    },
  },
  up: {
    arguments: [],
    help: 'Serve the team over HTTP, until it is stopped',
    options: {
      host: {
        value: 'ADDRESS',
        help: 'Where to listen; others than this machine need a way to prove who they are (default: 127.0.0.1)',
      },
      port: { value: 'N', help: 'The port, 0 for one that is free (default: 4710)' },
      'grpc-port': { value: 'N', help: 'Serve A2A over gRPC on this port too, 0 for one that is free' },
      agents: { value: 'FILES', help: AGENTS },
      skills: { help: 'Start the skills too: memory, knowledge and governance, for many tenants' },
      'skills-store': SKILLS_STORE,
      entry: { value: 'AGENT', help: 'The agent that is meant when a caller names none' },
      name: { value: 'NAME', help: 'What the card of the whole calls it (default: Orrery)' },
      journal: { value: 'FILE', help: 'Keep in FILE what is accepted, so that it outlives this process' },
      'api-keys': { value: 'FILE', help: "Let in who has one of these keys, as 'orrery key' makes them" },
      jwks: {
        value: 'URL',
        help: 'Let in who has a token signed by one of these keys; needs issuer and audience',
      },
      issuer: { value: 'NAME', help: 'Who must have issued the token' },
      audience: { value: 'NAME', help: 'For whom the token must have been issued' },
      anonymous: { help: 'Let in who proves nothing, beside those who prove who they are' },
      'no-token': { help: 'Let in every user and program of this machine: make no token for callers' },
      trust: { help: 'Do not mark what comes with the token as foreign' },
      unlock: UNLOCK,
      'watch-node': {
        value: 'URL=FILE',
        help: 'Show this other node in the visualiser too, with the token that stands in the file',
        isRepeatable: true,
      },
      'tls-key': { value: 'FILE', help: 'The private key to serve https with, as PEM text' },
      'tls-cert': { value: 'FILE', help: 'Its certificate, as PEM text' },
      'tls-ca': { value: 'FILE', help: 'Let in only callers whose certificate one of these has signed' },
      hosts: { value: 'NAMES', help: 'Names that it is reached under, separated by commas' },
      origins: { value: 'URLS', help: 'Pages of these origins may use it, separated by commas' },
      'public-url': { value: 'URL', help: 'Under which callers reach it, when it is behind a proxy' },
      xpr: { help: 'Serve the XPR binding too, as A2A_... and XPR_... of the environment say' },
      'xpr-gate': { help: "With --xpr: ask for XPR's rate and trust over the other protocols as well" },
      delegation: {
        value: 'NAME',
        help: 'What this system is called elsewhere: other systems of Orrery may delegate to it',
      },
      node: { value: 'NAME', help: 'Be a node of a team on several machines, which knows it by this name' },
      peer: {
        value: 'URLS',
        help: 'Where other nodes are: ws://host:port/path, hyperswarm:KEY or a multiaddr',
        isRepeatable: true,
      },
      join: { value: 'TOPIC', help: 'Find other nodes over Hyperswarm by a name that all of them know' },
      'peer-trust': {
        value: 'KEY[=NAME]',
        help: 'Let in the node with this key as a member of the team, under any name or this one',
        isRepeatable: true,
      },
      'peer-trust-file': {
        value: 'FILE',
        help: "Whom to let in as what, as 'orrery peers' keeps it (default: NAME.trust.json of the user's)",
      },
      'peer-key': {
        value: 'FILE',
        help: "The private key of this node, made if it is not there (default: NAME.key.pem of the user's)",
      },
      'peer-listen': {
        value: 'PLACES',
        help: 'Where others find it: HOST:PORT, a multiaddr, hyperswarm (default: 127.0.0.1:0)',
        isRepeatable: true,
      },
      'peer-address': {
        value: 'URLS',
        help: 'Where others find it instead of where it listens: the outside address of a port that is forwarded',
        isRepeatable: true,
      },
      'peer-bootstrap': {
        value: 'PLACES',
        help: 'HOST:PORT of nodes of a DHT of your own, instead of the public one of Hyperswarm',
        isRepeatable: true,
      },
      tracing: {
        value: 'FILE',
        help: 'A module that registers a provider of OpenTelemetry; every thread loads it',
      },
      'log-level': {
        value: 'LEVEL',
        help: 'What to log on standard error: error, warn, info or silent (default: warn)',
      },
      'log-format': {
        value: 'FORMAT',
        help: 'Lines of the log as json or text (default: text on a terminal, else json)',
      },
      json: { help: 'Print lines of JSON' },
      workers: WORKERS,
      help: HELP,
    },
  },
  peers: {
    arguments: [],
    help: 'Show which other nodes a running one sees and has refused, let one in, or cut one off',
    options: {
      node: { value: 'NAME', help: 'Of this node (default: the only one that you run here)' },
      trust: { value: 'KEY[=NAME]', help: 'Let in the node with this key from now on' },
      revoke: { value: 'KEY|NAME', help: 'Cut off the node with this key or name, and let it in no more' },
      json: { help: 'Print JSON instead of text' },
      help: HELP,
    },
  },
  mcp: {
    arguments: [],
    help: 'Serve the team over MCP to the program that has started this one, until that is gone',
    options: {
      agents: { value: 'FILES', help: AGENTS },
      name: { value: 'NAME', help: 'What the server calls itself (default: Orrery)' },
      names: {
        value: 'KIND',
        help: 'What tools are called: agent.tool, or portable for agent__tool (default: agent.tool)',
      },
      'search-above': {
        value: 'N',
        help: 'With more tools than this, list two that find and call them (default: 50)',
      },
      'read-only': { help: 'Serve only tools that change nothing' },
      trust: { help: 'Take what the program says as said here: privileged tools need no approval for it' },
      journal: { value: 'FILE', help: 'Keep in FILE what is accepted, so that it outlives this process' },
      workers: WORKERS,
      help: HELP,
    },
  },
  key: {
    arguments: [],
    help: 'Make a key for callers of a served team',
    options: {
      kind: { value: 'KIND', help: 'What its owner is: agent, user or service (default: service)' },
      tenant: {
        value: 'NAME',
        help: 'Whose data its owner may see (default: of a deployment that has one only)',
      },
      roles: { value: 'NAMES', help: 'What its owner may do, separated by commas' },
      tier: { value: 'N', help: 'As which tier its owner is judged, 0 to 3 (default: 3)' },
      days: { value: 'N', help: 'How long it is good (default: until it is taken off the list)' },
      add: { value: 'FILE', help: 'Put its record on the list in FILE' },
      json: { help: 'Print JSON' },
      help: HELP,
    },
  },
  simulate: {
    arguments: ['MISSION'],
    help: 'Run a mission in virtual time under faults, seed after seed',
    options: {
      agents: { value: 'FILES', help: 'Modules of the agents, separated by commas' },
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
    help: 'Show what a journal keeps for whom, have it forget, and see whether it is whole',
    options: {
      forget: { value: 'AGENT', help: 'Delete everything that it keeps for this agent' },
      check: { help: 'Say whether it is whole, and what is damaged; exit code 1 if something is' },
      backup: {
        value: 'NEW',
        help: 'Copy it to NEW, also while a system has it open',
      },
      salvage: {
        value: 'NEW',
        help: 'Get what is whole out of it into the new journal NEW; FILE stays as it is',
      },
      json: { help: 'Print JSON instead of a table' },
      help: HELP,
    },
  },
  inspect: {
    arguments: ['FILE'],
    help: 'Say in plain words what a recorded run did, or draw a part of it',
    options: {
      conversation: { value: 'ID', help: 'Show this conversation: who sent what to whom, and how it ended' },
      agent: { value: 'ID', help: 'Show what this agent did, and what happened to it' },
      at: {
        value: 'TIME|EVENTS',
        help: 'Show the team as it was then: 12.5s or 1:02 after the start, a date, or after so many events',
      },
      sequence: { value: 'ID', help: 'Draw this conversation as a sequence diagram' },
      machine: {
        value: 'ID',
        help: 'Draw this state machine, its state marked; of --agent, and --at that time',
      },
      as: {
        value: 'FORMAT',
        help: 'How to draw: svg or mermaid (default: as FILE of --out ends, else mermaid)',
      },
      out: { value: 'FILE', help: 'Write the drawing to FILE instead of printing it' },
      json: { help: 'Print JSON instead of text' },
      help: HELP,
    },
  },
  top: {
    arguments: [],
    help: 'Watch a running team in the terminal',
    options: {
      port: { value: 'N', help: 'Of the team on this port (default: the only one that you run here)' },
      url: { value: 'URL', help: 'Of the team that is served there' },
      'token-file': { value: 'FILE', help: 'With --url: the file with the token for it' },
      once: { help: 'Print how it is now, and end; so it is too where the output is no terminal' },
      json: { help: 'Print how it is now as JSON, and end' },
      help: HELP,
    },
  },
  stately: {
    arguments: [],
    help: "Show the state machines of a running team in Stately's inspector",
    options: {
      to: { value: 'URL', help: 'Where the inspector listens (default: ws://localhost:8080)' },
      port: { value: 'N', help: 'Of the team on this port (default: the only one that you run here)' },
      url: { value: 'URL', help: 'Of the team that is served there' },
      'token-file': { value: 'FILE', help: 'With --url: the file with the token for it' },
      help: HELP,
    },
  },
  agents: {
    arguments: [],
    help: 'Start the team and show who is in it, or draw a state machine',
    options: {
      agents: { value: 'FILES', help: AGENTS },
      machine: {
        value: 'ID',
        help: "Draw this agent's state machine, or one of Orrery's own, as Mermaid; nothing is started",
      },
      json: { help: 'Print JSON instead of a table' },
      workers: WORKERS,
      help: HELP,
    },
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;
