import type { Random } from '../../runtime/protocol/seams.ts';

/** A mission as its file says it, and what its items are called. */
export interface PlannedMission {
  readonly name: string;
  readonly text: string;
  readonly items: readonly string[];
}

const TASKS = 12;
const SWARM = ['chaos.wall', 'chaos.roof'] as const;
const LIMITS = { maxAttempts: 4, maxParallel: 3 };

/** Tasks that build upon each other, the last of them for a swarm of two. */
export function buildingMission(number: number, random: Random, effects: string): PlannedMission {
  const name = `building-${number}`;
  const solo = Array.from({ length: TASKS }, (_, at) => {
    const dependsOn = at < 2 ? [] : [`t-${Math.floor(random() * at)}`];
    const id = `t-${at}`;
    const input = { id, effects, ms: 20 + Math.floor(random() * 140), dependsOn };
    const urgency = at % 3 === 0 ? { priority: at + 1 } : {};
    return { id, title: `Build ${id}`, capability: 'chaos.dig', dependsOn, input, ...urgency };
  });
  const house = {
    id: 'house',
    title: 'Build the house',
    requiredCapabilities: SWARM,
    dependsOn: ['t-0', 't-1'],
    input: { id: 'house', effects, ms: 20, dependsOn: ['t-0', 't-1'] },
  };
  const items = [...solo.map(({ id }) => id), ...SWARM.map((capability) => `house/${capability}`)];
  const text = JSON.stringify({ version: 1, name, limits: LIMITS, tasks: [...solo, house] });
  return { name, text, items };
}

const AUDITS = [
  'security.scan',
  'errors.check',
  'docs.check',
  'dependencies.check',
  'tests.check',
  'performance.check',
  'release.check',
  'types.check',
] as const;

/** Tasks for the planets, in pairs, one after the other. */
export function auditMission(number: number): PlannedMission {
  const name = `audit-${number}`;
  const tasks = AUDITS.map((capability, at) => ({
    id: `a-${at}`,
    title: `Audit: ${capability}`,
    capability,
    dependsOn: at < 2 ? [] : [`a-${at - 2}`],
  }));
  return {
    name,
    text: JSON.stringify({ version: 1, name, limits: LIMITS, tasks }),
    items: tasks.map(({ id }) => id),
  };
}
