import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { type Figures, newFigures } from './figures.ts';
import { freezeChaos } from './freeze-chaos.ts';
import { mailChaos } from './mail-chaos.ts';
import { auditChaos, missionChaos } from './mission-chaos.ts';
import type { Scenario } from './scenario.ts';
import { soakChaos } from './soak-chaos.ts';
import { straysOf } from './strays.ts';

/** What there is. */
export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  mission: missionChaos,
  audit: auditChaos,
  mail: mailChaos,
  freeze: freezeChaos,
  soak: soakChaos,
};
export type ScenarioName = 'mission' | 'audit' | 'mail' | 'freeze' | 'soak';

/** How often each does its worst: kills and freezes, and for the soak seconds. */
export type Amounts = Readonly<Partial<Record<ScenarioName, number>>>;

/** Which part of all kills is whose. */
const AUDIT_SHARE = 0.1;
const MAIL_SHARE = 0.45;
const KILLS_PER_FREEZE = 20;

/** So many kills in all, and in proportion to them freezes. */
export function amountsOf(kills: number, soakMinutes: number): Amounts {
  const audit = Math.ceil(kills * AUDIT_SHARE);
  const mail = Math.floor(kills * MAIL_SHARE);
  const freeze = Math.ceil(kills / KILLS_PER_FREEZE);
  return { mission: Math.max(0, kills - audit - mail), audit, mail, freeze, soak: soakMinutes * 60 };
}

export interface ChaosOptions {
  readonly folder: string;
  readonly seed: number;
  readonly amounts: Amounts;
  readonly say: (text: string) => void;
}

/** Runs one scenario after the other, each in a folder of its own and with chances of its own. */
export async function runScenarios({
  folder,
  seed,
  amounts,
  say,
}: ChaosOptions): Promise<Map<ScenarioName, Figures>> {
  const all = new Map<ScenarioName, Figures>();
  for (const [at, [name, run]] of Object.entries(SCENARIOS).entries()) {
    const amount = amounts[name as ScenarioName] ?? 0;
    if (amount === 0) continue;
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const deps = {
      folder: own,
      random: seededRandom(seed + at),
      say: (text: string) => say(`[${name}] ${text}`),
    };
    const figures = await run(deps, amount).catch(cutShort);
    const strays = await straysOf(own);
    if (strays.length > 0) figures.broken.push(`processes ${strays.join(', ')} are left`);
    all.set(name as ScenarioName, figures);
  }
  return all;
}

/** It could not go on, and what it had counted is lost with it. */
function cutShort(error: unknown): Figures {
  const figures = newFigures();
  figures.broken.push(`it could not go on: ${error instanceof Error ? error.message : String(error)}`);
  return figures;
}
