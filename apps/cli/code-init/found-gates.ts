import type { MissionGate } from '@orrery/ralph-loop';
import type { CommittedFiles, Toolchain } from './toolchain.ts';
import {
  cargoToolchain,
  dotnetToolchain,
  goToolchain,
  jvmToolchain,
} from './toolchains/compiled-toolchains.ts';
import { nodeToolchain } from './toolchains/node-toolchain.ts';
import { pythonToolchain } from './toolchains/python-toolchain.ts';
import { denoToolchain, makeToolchain, phpToolchain, rubyToolchain } from './toolchains/script-toolchains.ts';

const KINDS = [
  nodeToolchain,
  denoToolchain,
  pythonToolchain,
  cargoToolchain,
  goToolchain,
  rubyToolchain,
  phpToolchain,
  jvmToolchain,
  dotnetToolchain,
];

/**
 * What a repository has that a mission needs.
 *
 * - `hasTests`  a gate runs tests; without, one of the gates fails and says so.
 * - `toolchains` what was found, by what shows it.
 */
export interface FoundGates {
  readonly toolchains: readonly { readonly id: string; readonly found: readonly string[] }[];
  readonly hasTests: boolean;
  readonly setup: string | undefined;
  readonly makes: readonly string[];
  readonly gates: readonly MissionGate[];
  readonly protect: readonly string[];
  readonly lacks: readonly string[];
}

/** Files that decide what is checked elsewhere, whether they are there or not. */
const ALWAYS = ['.github/workflows/**', '.gitlab-ci.yml', '.circleci/**'];

/** - `file` that the gates will stand in. - `missions` whose tasks they are for. */
export interface GatesFor {
  readonly file: string;
  readonly missions: readonly string[];
}

/** The gates that fit a repository. Where no tests were found, one of them fails and says so. */
export function foundGates(files: CommittedFiles, { file, missions }: GatesFor): FoundGates {
  const own = KINDS.flatMap((kind) => kind(files) ?? []);
  // A Makefile usually calls what was found already.
  const hasOwnTests = own.some(({ gates }) => gates.some(({ name }) => name === 'test'));
  const make = hasOwnTests ? undefined : makeToolchain(files);
  const toolchains = make === undefined ? own : [...own, make];
  const gates = toolchains.flatMap(({ id, gates: of }, index) =>
    of.map((gate) =>
      index === 0 || isOnly(gate, toolchains) ? gate : { ...gate, name: `${id}-${gate.name}` },
    ),
  );
  const hasTests = hasOwnTests || make !== undefined;
  const setups = toolchains.flatMap(({ setup }) => setup ?? []);
  return {
    toolchains: toolchains.map(({ id, found }) => ({ id, found })),
    hasTests,
    setup: setups.length === 0 ? undefined : setups.join(' && '),
    makes: toolchains.flatMap(({ makes }) => makes),
    gates: hasTests ? gates : [...gates, gateToWrite(file)],
    protect: [...new Set([...toolchains.flatMap(({ protect }) => protect), ...ALWAYS, file, ...missions])],
    lacks: toolchains.flatMap(({ lacks }) => lacks),
  };
}

const isOnly = ({ name }: MissionGate, toolchains: readonly Toolchain[]): boolean =>
  toolchains.filter(({ gates }) => gates.some((gate) => gate.name === name)).length === 1;

/** Says what is missing. It fails: a gate that always passes would accept anything. */
export const NO_TESTS = 'No test command was found in this repository: write a gate';

const gateToWrite = (missionFile: string): MissionGate => ({
  name: 'write-a-gate',
  run: `echo "${NO_TESTS} into ${missionFile}, in the place of this one" >&2; exit 1`,
});
