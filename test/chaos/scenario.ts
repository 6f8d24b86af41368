import type { Random } from '../../runtime/protocol/seams.ts';
import type { Figures } from './figures.ts';

/** What every scenario is given; `folder` is its own, and empty. `say` is for who watches. */
export interface ScenarioDeps {
  readonly folder: string;
  readonly random: Random;
  readonly say: (text: string) => void;
}

/** Does its worst so often, or for so many seconds, and counts; throws only when it cannot go on. */
export type Scenario = (deps: ScenarioDeps, amount: number) => Promise<Figures>;
