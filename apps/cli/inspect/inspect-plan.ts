import { extname } from 'node:path';
import { OutputFile } from '../output-file.ts';
import type { TypedOptions } from '../run-plan.ts';
import { UsageError } from '../usage-error.ts';
import { type Moment, readMoment } from './moment.ts';

/** What is asked of a trace. */
export type Question =
  | { readonly kind: 'run' }
  | { readonly kind: 'scene' }
  | { readonly kind: 'conversation'; readonly id: string }
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'sequence'; readonly id: string; readonly as: DrawnAs }
  | {
      readonly kind: 'machine';
      readonly id: string;
      readonly agentId: string | undefined;
      readonly as: DrawnAs;
    };

export type DrawnAs = 'svg' | 'mermaid';

/** The checked options of `orrery inspect`. */
export interface InspectPlan {
  readonly path: string;
  readonly question: Question;
  readonly moment: Moment | undefined;
  readonly isJson: boolean;
  /** Where a drawing goes; undefined for standard output. */
  readonly out: OutputFile | undefined;
}

/** Checks the options before anything is read. Throws UsageError naming option and value. */
export function planInspect(options: TypedOptions, positionals: readonly string[]): InspectPlan {
  const [path] = positionals;
  if (path === undefined) throw new UsageError('No file; expected "orrery inspect FILE"');
  const moment = readMoment(options['at']);
  const question = questionOf(options, moment);
  const isDrawing = question.kind === 'sequence' || question.kind === 'machine';
  const isJson = options['json'] === true;
  if (isDrawing && isJson)
    throw new UsageError(`Options "--${question.kind}" and "--json" exclude each other`);
  for (const option of ['as', 'out'])
    if (!isDrawing && options[option] !== undefined)
      throw new UsageError(`Option "--${option}" is of drawings: "--sequence" or "--machine" is missing`);
  const out = options['out'] === undefined ? undefined : new OutputFile('--out', String(options['out']));
  return { path, question, moment, isJson, out };
}

function questionOf(options: TypedOptions, moment: Moment | undefined): Question {
  const asked = (['conversation', 'sequence', 'machine'] as const).filter(
    (name) => options[name] !== undefined,
  );
  const [first, other] = asked;
  if (other !== undefined) throw new UsageError(`Options "--${first}" and "--${other}" exclude each other`);
  const agentId = options['agent'] === undefined ? undefined : String(options['agent']);
  if (agentId !== undefined && first !== undefined && first !== 'machine')
    throw new UsageError(`Options "--${first}" and "--agent" exclude each other`);
  const id = first === undefined ? '' : String(options[first]);
  if (first === 'conversation') return { kind: first, id };
  if (first === 'sequence') return { kind: first, id, as: drawnAs(options) };
  if (first === 'machine') return { kind: first, id, agentId, as: drawnAs(options) };
  if (agentId !== undefined) return { kind: 'agent', id: agentId };
  return { kind: moment === undefined ? 'run' : 'scene' };
}

/** As `--as` says, else as the name of the file ends. */
function drawnAs({ as, out }: TypedOptions): DrawnAs {
  if (as === undefined) return out !== undefined && extname(String(out)) === '.svg' ? 'svg' : 'mermaid';
  if (as === 'svg' || as === 'mermaid') return as;
  throw new UsageError(`Option "--as" is "${as}", expected svg or mermaid`);
}
