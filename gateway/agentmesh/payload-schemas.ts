import { invalidOptions, reasonOf } from '../../runtime/protocol/errors.ts';
import { type CheckBySchema, compileForeign, compileStandard, type SchemaFault } from './compiled-schema.ts';
import { type OnAgentMeshEvent, warnOfEvent } from './mesh-event.ts';
import { SchemaDirectory, schemaFolder } from './schema-directory.ts';
import { requireCustomSchemaId } from './schema-id.ts';
import { type JsonSchema, STANDARD_SCHEMAS } from './standard-schemas.ts';
import { tooLarge } from './value-limits.ts';

/** How many schemas may be registered. */
const MAX_SCHEMAS = 256;

/** The largest value that is checked. */
const VALUE_LIMITS = { depth: 64, characters: 65_536 };

/**
 * What a check has come to.
 *
 * - `valid`, `invalid` by the schema; `faults` say what is wrong.
 * - `unknown`          no such schema is there.
 * - `unchecked`        the schema or the value does not let itself be checked; `reason` says why.
 */
export type SchemaCheck =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'invalid'; readonly faults: readonly SchemaFault[] }
  | { readonly outcome: 'unknown' | 'unchecked'; readonly reason: string };

/**
 * - `directory` where registered schemas are kept; `false` keeps them in memory alone. @default ~/.agentmesh/schemas
 * - `onEvent`   hears of files that are skipped, and of schemas that are suspended. @default a warning of the process
 */
export interface SchemaOptions {
  readonly directory?: string | false;
  readonly onEvent?: OnAgentMeshEvent;
}

/** Undefined: suspended. */
type Known = Map<string, CheckBySchema | undefined>;

/**
 * The schemas by which payloads are checked: the standard ones, and those that were registered, also in an earlier process. A
 * registered schema cannot hold up the process: a check that takes longer than 250 ms is ended, and the schema is suspended.
 */
export class PayloadSchemas {
  readonly #standard: ReadonlyMap<string, CheckBySchema>;
  readonly #registered: Known = new Map();
  readonly #directory: SchemaDirectory | undefined;
  readonly #onEvent: OnAgentMeshEvent;

  /** Reads the folder, and puts the standard schemas there for people to read. Throws STORE_FAILED if it cannot be made or read. */
  constructor({ directory = schemaFolder(), onEvent = warnOfEvent }: SchemaOptions = {}) {
    this.#onEvent = onEvent;
    this.#standard = new Map(
      Object.entries(STANDARD_SCHEMAS).map(([id, schema]) => [id, compileStandard(id, schema)]),
    );
    if (directory === false) return;
    this.#directory = new SchemaDirectory(directory, onEvent);
    for (const [id, schema] of Object.entries(STANDARD_SCHEMAS))
      this.#directory.write(id, schema, { onlyIfMissing: true });
    for (const [id, schema] of this.#directory.read(MAX_SCHEMAS)) this.#load(id, schema);
  }

  #load(id: string, schema: unknown): void {
    try {
      this.#registered.set(id, compileForeign(id, schema));
    } catch (error) {
      this.#onEvent({
        kind: 'schema.skipped',
        reason: `The schema ${id} is not used: ${reasonOf(error)}`,
        details: { id },
      });
    }
  }

  /** The ids of all schemas, in order. */
  ids(): string[] {
    return [...this.#standard.keys(), ...this.#registered.keys()].sort();
  }

  /**
   * Registers a custom schema of Draft-07, and keeps it for later processes. One of the same id is replaced. `format` and what a
   * `$ref` to another document names are not looked at: the latter is refused.
   *
   * Throws INVALID_OPTIONS for an id that is none, a schema that is none, or one too many. Throws STORE_FAILED if it is not kept;
   * then it is not registered.
   */
  register(id: string, schema: JsonSchema): void {
    requireCustomSchemaId(id);
    if (!this.#registered.has(id) && this.#registered.size >= MAX_SCHEMAS)
      throw invalidOptions('id', id, `at most ${MAX_SCHEMAS} registered schemas`);
    const check = compileForeign(id, schema);
    this.#directory?.write(id, schema);
    this.#registered.set(id, check);
  }

  /** Says whether it was there. Throws STORE_FAILED if it is not removed from the folder. */
  unregister(id: string): boolean {
    requireCustomSchemaId(id);
    this.#directory?.remove(id);
    return this.#registered.delete(id);
  }

  /** Checks a value by a schema. Never throws. */
  check(id: string, value: unknown): SchemaCheck {
    const standard = this.#standard.get(id);
    const check = standard ?? this.#registered.get(id);
    if (check === undefined)
      return this.#registered.has(id)
        ? { outcome: 'unchecked', reason: `the schema ${id} is suspended` }
        : { outcome: 'unknown', reason: `there is no schema "${id.slice(0, 200)}"` };
    const size = tooLarge(value, VALUE_LIMITS);
    if (size !== undefined) return { outcome: 'unchecked', reason: size };
    try {
      const faults = check(value);
      return faults.length === 0 ? { outcome: 'valid' } : { outcome: 'invalid', faults };
    } catch (error) {
      return this.#suspend(id, reasonOf(error));
    }
  }

  #suspend(id: string, cause: string): SchemaCheck {
    this.#registered.set(id, undefined);
    const reason = `The schema ${id} is suspended, for checking by it failed: ${cause}`;
    this.#onEvent({ kind: 'schema.suspended', reason, details: { id } });
    return { outcome: 'unchecked', reason };
  }
}
