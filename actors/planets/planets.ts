import type { AgentTier } from '../../runtime/protocol/agent-card.ts';

/** Identity of one of the 21 planetary agents (seed 1): what `defineAgent` needs beside the handlers. */
export interface Planet {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly tier: AgentTier;
  readonly description: string;
}

/** The 21 planetary agents by id: 0 orchestrator, 1 strategic, 2 operational, 3 specialist. */
export const PLANETS = {
  sun: {
    id: 'sun',
    name: 'SUN',
    version: '1.0.0',
    tier: 0,
    description:
      'Orchestrator: decomposes missions, dispatches ready tasks, recovers from failures, reports to the user',
  },
  mercury: {
    id: 'mercury',
    name: 'MERCURY',
    version: '1.0.0',
    tier: 1,
    description:
      'Specification validator: checks every output before it is handed on and says what is wrong with it',
  },
  earth: {
    id: 'earth',
    name: 'EARTH',
    version: '1.0.0',
    tier: 1,
    description: 'Product specifications: user stories, acceptance criteria, Gherkin scenarios',
  },
  jupiter: {
    id: 'jupiter',
    name: 'JUPITER',
    version: '1.0.0',
    tier: 1,
    description: 'Architecture: decision records, boundaries, data flow',
  },
  venus: {
    id: 'venus',
    name: 'VENUS',
    version: '1.0.0',
    tier: 2,
    description: 'Front end: components with all their states, accessibility',
  },
  mars: {
    id: 'mars',
    name: 'MARS',
    version: '1.0.0',
    tier: 2,
    description: 'Back end: functions, strict types, isolation of rows',
  },
  pluto: {
    id: 'pluto',
    name: 'PLUTO',
    version: '1.0.0',
    tier: 2,
    description: 'Data: schemas, indexes, isolation of tenants',
  },
  saturn: {
    id: 'saturn',
    name: 'SATURN',
    version: '1.0.0',
    tier: 2,
    description: 'Tests: coverage and traceability to requirements',
  },
  titan: {
    id: 'titan',
    name: 'TITAN',
    version: '1.0.0',
    tier: 2,
    description: 'Real time: subscriptions, presence, optimistic updates',
  },
  enceladus: {
    id: 'enceladus',
    name: 'ENCELADUS',
    version: '1.0.0',
    tier: 3,
    description: 'Security: authentication, authorisation, input validation, injection',
  },
  ganymede: {
    id: 'ganymede',
    name: 'GANYMEDE',
    version: '1.0.0',
    tier: 3,
    description: 'Integration of external services: webhooks, rate limits, mapping of errors',
  },
  neptune: {
    id: 'neptune',
    name: 'NEPTUNE',
    version: '1.0.0',
    tier: 3,
    description: 'Analytics: metrics and dashboards',
  },
  charon: {
    id: 'charon',
    name: 'CHARON',
    version: '1.0.0',
    tier: 3,
    description: 'Error experience: empty and loading states, recovery flows',
  },
  uranus: {
    id: 'uranus',
    name: 'URANUS',
    version: '1.0.0',
    tier: 3,
    description: 'Research and development: evaluation of tools and libraries',
  },
  europa: {
    id: 'europa',
    name: 'EUROPA',
    version: '1.0.0',
    tier: 3,
    description: 'Mobile: responsive layouts, installable web apps',
  },
  mimas: {
    id: 'mimas',
    name: 'MIMAS',
    version: '1.0.0',
    tier: 3,
    description: 'Resilience: retries, circuit breakers, graceful degradation',
  },
  io: {
    id: 'io',
    name: 'IO',
    version: '1.0.0',
    tier: 3,
    description: 'Performance: profiles and budgets',
  },
  triton: {
    id: 'triton',
    name: 'TRITON',
    version: '1.0.0',
    tier: 3,
    description: 'Delivery: continuous integration, deployment, releases',
  },
  callisto: {
    id: 'callisto',
    name: 'CALLISTO',
    version: '1.0.0',
    tier: 3,
    description: 'Documentation',
  },
  atlas: {
    id: 'atlas',
    name: 'ATLAS',
    version: '1.0.0',
    tier: 3,
    description: 'Meta-learning: retrospectives, timing, briefings',
  },
  andromeda: {
    id: 'andromeda',
    name: 'ANDROMEDA',
    version: '1.0.0',
    tier: 3,
    description: 'Ideas: opportunities and market research',
  },
} as const satisfies Record<string, Planet>;

/** The tier of every planet by id. */
export const DEFAULT_TIER_ASSIGNMENTS: Readonly<Record<string, AgentTier>> = Object.fromEntries(
  Object.values(PLANETS).map(({ id, tier }) => [id, tier]),
);
