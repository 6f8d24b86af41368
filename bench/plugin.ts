import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { faultsOf } from '../runtime/protocol/payload-faults.ts';
import { pluginInvalid } from './bench-error.ts';
import { Comparison, type Contender, type Measurement, RateUnit } from './measurement.ts';

/** A contender for a race that another file has, and what it is compared with there. */
export interface Entrant {
  readonly race: string;
  readonly contender: Contender;
  readonly comparisons?: readonly Comparison[];
}

/**
 * What one file adds to the bench: its only export that counts is `plugin`.
 *
 * - `measurements`  races and probes.
 * - `entrants`      contenders for races of other files.
 */
export interface Plugin {
  readonly measurements?: readonly Measurement[];
  readonly entrants?: readonly Entrant[];
}

const Name = z.string().min(1);
const Callable = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  'expected a function',
);

const ContenderShape = z.looseObject({ name: Name, packages: z.array(Name).optional(), open: Callable });

const RaceShape = z.looseObject({
  kind: z.literal('race'),
  name: Name,
  title: Name,
  unit: RateUnit,
  onOneCore: z.literal(true).optional(),
  openMs: z.int().positive().optional(),
  contenders: z.array(ContenderShape).min(1),
  comparisons: z.array(Comparison),
});

const ProbeShape = z.looseObject({ kind: z.literal('probe'), name: Name, title: Name, read: Callable });

const PluginShape = z.strictObject({
  measurements: z.array(z.discriminatedUnion('kind', [RaceShape, ProbeShape])).optional(),
  entrants: z
    .array(
      z.strictObject({
        race: Name,
        contender: ContenderShape,
        comparisons: z.array(Comparison).optional(),
      }),
    )
    .optional(),
});

/** Loads a plug-in; fails with PLUGIN_INVALID, which names the file and the field. */
export async function loadPlugin(file: URL): Promise<Plugin> {
  const path = fileURLToPath(file);
  const module = await importOf(file, path);
  if (!('plugin' in module)) throw pluginInvalid(path, 'it exports no `plugin`');
  return pluginOf(module['plugin'], path);
}

async function importOf(file: URL, path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(file.href);
  } catch (error) {
    throw pluginInvalid(
      path,
      `it cannot be loaded: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
}

/** The value itself, whose functions may need what it holds: the shape is only compared. */
export function pluginOf(value: unknown, path: string): Plugin {
  const { error } = PluginShape.safeParse(value, { reportInput: true });
  if (error !== undefined) throw pluginInvalid(path, faultsOf(error, value, 'plugin'), error);
  return value as Plugin;
}
