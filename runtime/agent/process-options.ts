import { isAbsolute, normalize, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { AgentTier } from '../protocol/agent-card.ts';
import { CatalogueOptions } from '../protocol/catalogue-approval.ts';

/** A file or a folder with all that is in it, as a path. In Node's own options a `*` would grant what begins alike, too. */
const GrantedPath = z
  .union([z.string(), z.instanceof(URL)])
  .refine(isGrantable, 'an absolute path without "*", or a file: URL')
  .transform((given) => normalize(typeof given === 'string' ? given : fileURLToPath(given)));

function isGrantable(given: string | URL): boolean {
  if (typeof given !== 'string') return given.protocol === 'file:' && !given.href.includes('*');
  return isAbsolute(given) && !given.includes('*') && !given.includes('\0');
}

/**
 * What the code of an agent in a process of its own may do (Node's permission model). What is left out it may not.
 *
 * - `read`, `write`   files, and folders with all that is in them. Its own code it may read without being granted: the
 *                     folder of its module, the `node_modules` that the module can import from, and Orrery itself.
 * - `net`             sockets. A Node that does not know `--allow-net` never refuses them.
 * - `childProcess`    processes, and signals to any other: these have no permission model.
 * - `worker`          threads, and so `ctx.offload`. A thread that is made with options of its own is not restricted: this
 *                     is as good as everything.
 * - `addons`, `wasi`, `ffi` native code, and what is compiled to WASI. Native code is not restricted either.
 * - `sqlite`          `node:sqlite`, which reads and writes any file that the user can: it is as good as `read` and `write`
 *                     of everything, and comes with these.
 */
export const ProcessPermissions = z.strictObject({
  read: z.array(GrantedPath).default([]),
  write: z.array(GrantedPath).default([]),
  net: z.boolean().default(false),
  childProcess: z.boolean().default(false),
  worker: z.boolean().default(false),
  addons: z.boolean().default(false),
  wasi: z.boolean().default(false),
  ffi: z.boolean().default(false),
  sqlite: z.boolean().default(false),
});
export type ProcessPermissions = z.input<typeof ProcessPermissions>;

/** Whether `node:sqlite` may be there: Node's permissions do not reach into it. */
export const mayUseSqlite = ({ sqlite, read, write }: z.output<typeof ProcessPermissions>): boolean =>
  sqlite || (read.some(isRoot) && write.some(isRoot));

const isRoot = (path: string): boolean => parse(path).root === path;

/** Whether its code can start processes, by being permitted to or by what is as good as that. */
export const mayStartOthers = ({ permissions }: Pick<ProcessOptions, 'permissions'>): boolean => {
  const { childProcess, worker, addons, ffi } = permissions;
  return childProcess || worker || addons || ffi;
};

/** What Node and V8 need beside the heap, and what a young heap may hold. */
const BESIDE_HEAP_MB = 256;

/** These say to Node what its options say: with them an environment could take back what the permissions refuse. */
const isForNode = (name: string): boolean => /^NODE_(OPTIONS|PATH|REPL_|V8_|EXTRA_)/.test(name.toUpperCase());

const Environment = z.record(
  z
    .string()
    .min(1)
    .refine((name) => !isForNode(name), 'a variable that is not for Node itself'),
  z.string(),
);

/** The fields of an agent's spec that only one with a process of its own can have. */
export const PROCESS_FIELDS = {
  permissions: ProcessPermissions,
  memoryMb: z.int().min(32).max(65_536),
  residentMb: z.int().min(96).max(131_072),
  env: Environment,
  tier: AgentTier,
  sandboxId: z.string().min(1),
  mayDeclareClean: z.boolean(),
  catalogue: CatalogueOptions,
};

/**
 * How an agent's process is run.
 *
 * - `memoryMb`   heap that its JavaScript may use, megabytes. @default 256
 * - `residentMb` memory of the whole process, megabytes: what is outside the heap counts here, too. It is looked at ten
 *                times a second; a process that has more is ended. @default `memoryMb` + 256
 * - `env`        its environment; nothing is inherited.
 * - `tier`, `sandboxId` what it is granted, whatever its module says of itself.
 * - `mayDeclareClean` whether it is believed when it says that nothing from outside is in it any more. @default false
 * - `catalogue` which card with somebody else's text its owner has read and approved. @default none
 * - `within`     what is around it beside Node's permissions. @default nothing
 */
export const ProcessOptions = z
  .strictObject({
    permissions: PROCESS_FIELDS.permissions.prefault({}),
    memoryMb: PROCESS_FIELDS.memoryMb.default(256),
    residentMb: PROCESS_FIELDS.residentMb.optional(),
    env: PROCESS_FIELDS.env.default({}),
    tier: PROCESS_FIELDS.tier.optional(),
    sandboxId: PROCESS_FIELDS.sandboxId.optional(),
    mayDeclareClean: PROCESS_FIELDS.mayDeclareClean.default(false),
    catalogue: PROCESS_FIELDS.catalogue.default({}),
    within: z.literal('bubblewrap').optional(),
  })
  .transform((options) => ({
    ...options,
    residentMb: options.residentMb ?? options.memoryMb + BESIDE_HEAP_MB,
  }));
export type ProcessOptions = z.output<typeof ProcessOptions>;
