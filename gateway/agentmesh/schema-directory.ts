import { lstatSync, mkdirSync, readdirSync, realpathSync, unlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { OrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import type { OnAgentMeshEvent } from './mesh-event.ts';
import { codeOf, makePrivateFolder, PRIVATE_FOLDER, readWhole, writeWhole } from './private-file.ts';
import { isCustomSchemaId } from './schema-id.ts';

/** Where AgentMesh keeps its schemas. */
export const schemaFolder = (): string => join(homedir(), '.agentmesh', 'schemas');

const MAX_BYTES = 262_144;

/**
 * A folder of schemas, in which the id is the path: `x-mycompany/invoice/v1` is `x-mycompany/invoice/v1.json`. Links are neither
 * followed nor written through.
 */
export class SchemaDirectory {
  readonly #root: string;
  readonly #onEvent: OnAgentMeshEvent;

  /** Makes the folder if it is missing. Throws STORE_FAILED if that fails. */
  constructor(folder: string, onEvent: OnAgentMeshEvent) {
    this.#onEvent = onEvent;
    this.#root = attempt(folder, 'open', () => {
      makePrivateFolder(folder);
      return realpathSync(folder);
    });
  }

  /** The custom schemas in the folder, at most `limit`, by their ids in order. What is no schema is skipped, with an event. */
  *read(limit: number): Generator<readonly [id: string, schema: unknown]> {
    let count = 0;
    for (const id of this.#ids()) {
      if (count >= limit) {
        this.#skip(id, `there are more than ${limit} schemas`);
        return;
      }
      const schema = this.#schemaOf(id);
      if (schema === undefined) continue;
      count++;
      yield [id, schema];
    }
  }

  /** Writes a schema, in place of the one that may be there. `onlyIfMissing`: leaves that one. Throws STORE_FAILED. */
  write(id: string, schema: unknown, { onlyIfMissing = false } = {}): void {
    attempt(this.#root, `keep ${id}`, () => {
      const file = this.#fileOf(id, { make: true });
      if (onlyIfMissing && statOf(file) !== undefined) return;
      writeWhole(file, `${JSON.stringify(schema, null, 2)}\n`, { isNew: false });
    });
  }

  /** Throws STORE_FAILED. */
  remove(id: string): void {
    attempt(this.#root, `remove ${id}`, () => {
      try {
        unlinkSync(this.#fileOf(id, { make: false }));
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error;
      }
    });
  }

  /** Where the schema of an id is. Throws if a link is on the way. */
  #fileOf(id: string, { make }: { readonly make: boolean }): string {
    const parts = id.split('/');
    const name = parts.pop();
    let folder = this.#root;
    for (const part of parts) {
      folder = join(folder, part);
      const stats = statOf(folder);
      if (stats === undefined && make) mkdirSync(folder, { mode: PRIVATE_FOLDER });
      else if (stats !== undefined && !stats.isDirectory()) throw new Error(`${folder} is no folder`);
    }
    return join(folder, `${name}.json`);
  }

  *#ids(): Generator<string> {
    for (const namespace of this.#list('', /^x-/))
      for (const name of this.#list(namespace, /./))
        for (const file of this.#list(`${namespace}/${name}`, /\.json$/)) {
          const id = `${namespace}/${name}/${file.slice(0, -'.json'.length)}`;
          if (isCustomSchemaId(id)) yield id;
          else this.#skip(id, 'its path is not x-<namespace>/<schema>/v<n>.json in lower case');
        }
  }

  #list(path: string, wanted: RegExp): string[] {
    const folder = join(this.#root, path);
    if (statOf(folder)?.isDirectory() !== true) {
      this.#skip(path, 'it is no folder');
      return [];
    }
    return attempt(folder, 'list its files', () => readdirSync(folder))
      .filter((name) => wanted.test(name) && !name.startsWith('.'))
      .sort();
  }

  #schemaOf(id: string): unknown {
    try {
      const found = readWhole(this.#fileOf(id, { make: false }), MAX_BYTES);
      if (typeof found === 'object') return JSON.parse(found.text);
      const reason = found === 'too-large' ? `it has more than ${MAX_BYTES} bytes` : 'it is no file';
      this.#skip(id, reason);
    } catch (error) {
      this.#skip(id, codeOf(error) === 'ELOOP' ? 'it is a symbolic link' : reasonOf(error));
    }
    return undefined;
  }

  #skip(id: string, reason: string): void {
    this.#onEvent({
      kind: 'schema.skipped',
      reason: `The schema ${id} in ${this.#root} is not used: ${reason}`,
      details: { id, folder: this.#root },
    });
  }
}

const statOf = (path: string): ReturnType<typeof lstatSync> => lstatSync(path, { throwIfNoEntry: false });

function attempt<Result>(folder: string, operation: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const reason = reasonOf(error);
    throw new OrreryError(
      'STORE_FAILED',
      `The folder of schemas ${folder} failed to ${operation}: ${reason}`,
      {
        details: { folder, operation, reason },
        cause: error,
      },
    );
  }
}
