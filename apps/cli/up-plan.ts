import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AgentSpec, type Clock, isOrreryError } from 'orrery';
import type { Authenticator } from 'orrery/admission';
import type { ServeOptions, WatchOptions } from 'orrery/gateway';
import { agentsMeant } from './agents-meant.ts';
import { keysInFile } from './api-key-file.ts';
import { type NodePlan, planNode } from './node-plan.ts';
import { DEFAULT_PORT, readList, readNamedFile, readPort, readWorkers } from './option-values.ts';
import { isInstalled } from './optional-packages.ts';
import type { TypedOptions } from './run-plan.ts';
import { skillsMeant } from './skills-meant.ts';
import { newToken } from './up-token.ts';
import { watchedNodes, watchOptions } from './watch/watch-page.ts';
import { UsageError } from './usage-error.ts';

/** The checked options of `orrery up`. */
export interface UpPlan {
  readonly agents: readonly AgentSpec[];
  readonly workers: number | undefined;
  readonly journal: string | undefined;
  /** The module that registers who traces. */
  readonly tracing: URL | undefined;
  /** The token that callers need; undefined if they authenticate otherwise. */
  readonly token: string | undefined;
  readonly serve: ServeOptions;
  readonly watch: WatchOptions;
  /** Of a node among others; undefined where none is asked for. */
  readonly node: NodePlan | undefined;
}

/** Checks the options before anything starts. Throws UsageError naming option and value. */
export async function planUp(
  options: TypedOptions,
  { clock, version }: { clock: Clock; version: string },
): Promise<UpPlan> {
  const { host, entry, name, journal } = options;
  const hosts = readList('--hosts', options['hosts']);
  const origins = readList('--origins', options['origins']);
  const publicUrl = options['public-url'];
  const tls = tlsOf(options);
  const grpcPort = readPort('--grpc-port', options['grpc-port']);
  const authenticators = await authenticatorsOf(options, clock);
  if (options['xpr-gate'] === true && options['xpr'] !== true)
    throw new UsageError('Option "--xpr-gate" is given without "--xpr"');
  const { delegation } = options;
  const { authenticators: ofXpr = [], ...xpr } =
    options['xpr'] === true ? await xprOptions(options['xpr-gate'] === true) : {};
  const given = [...authenticators, ...ofXpr];
  const { token, serve: byToken } = tokenOf(options, given.length > 0);
  const agents = [...(await agentsMeant(options['agents'])), ...(await skillsMeant(options, '.'))];
  return {
    agents,
    workers: readWorkers(options['workers']),
    journal: journal === undefined ? undefined : resolve(String(journal)),
    tracing: tracingIn(options['tracing']),
    token,
    watch: { ...watchOptions(options), nodes: watchedNodes(options['watch-node']) },
    node: await planNode(options, certificateIn(tls)),
    serve: {
      ...xpr,
      version,
      port: readPort('--port', options['port']) ?? DEFAULT_PORT,
      hosts: [...hosts],
      origins: [...origins],
      authenticators: given,
      ...byToken,
      ...(host === undefined ? {} : { host: String(host) }),
      ...(entry === undefined ? {} : { entry: String(entry) }),
      ...(name === undefined ? {} : { name: String(name) }),
      ...(publicUrl === undefined ? {} : { publicUrl: String(publicUrl) }),
      ...(options['anonymous'] === true ? { anonymous: true } : {}),
      ...(delegation === undefined ? {} : { a2a: { delegation: { node: String(delegation) } } }),
      ...(tls === undefined ? {} : { tls }),
      ...(grpcPort === undefined ? {} : { grpc: { port: grpcPort } }),
    },
  };
}

function tracingIn(typed: string | true | undefined): URL | undefined {
  if (typed === undefined) return undefined;
  const path = resolve(String(typed));
  if (!existsSync(path)) throw new UsageError(`Option "--tracing" is "${typed}": there is no file`);
  if (!isInstalled('@opentelemetry/api'))
    throw new UsageError(
      'Option "--tracing" needs a package that is not installed: npm install @opentelemetry/api',
    );
  return pathToFileURL(path);
}

/**
 * Makes a token for this user, unless there is another authentication or `--no-token`. A public address gets none: it needs
 * an authentication that was chosen. Callers with the token are tainted, unless `--trust` is set.
 */
function tokenOf(
  options: TypedOptions,
  isOtherwiseKnown: boolean,
): { token: string | undefined; serve: Partial<ServeOptions> } {
  const [isTrusted, isOpen] = [options['trust'] === true, options['no-token'] === true];
  if (isTrusted && (isOtherwiseKnown || isOpen || options['anonymous'] === true))
    throw new UsageError('Option "--trust" is of the token that "up" makes, which it does not make here');
  if (isOtherwiseKnown || options['anonymous'] === true) return { token: undefined, serve: {} };
  if (!isOfThisMachine(options['host'])) return { token: undefined, serve: {} };
  if (isOpen) return { token: undefined, serve: { anonymous: true } };
  const { token, authenticator } = newToken();
  const trusts = isTrusted ? {} : { trusts: () => false };
  return { token, serve: { authenticators: [authenticator], metrics: 'admitted', ...trusts } };
}

const isOfThisMachine = (host: string | true = '127.0.0.1'): boolean =>
  /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(String(host));

/** The options of XPR, from environment variables. */
async function xprOptions(
  gatesAll: boolean,
): Promise<Pick<ServeOptions, 'bindings' | 'authenticators' | 'rules' | 'tasks'>> {
  const { xprServeOptions } = await import('orrery/xpr');
  try {
    return xprServeOptions(process.env, { gatesAll });
  } catch (error) {
    if (isOrreryError(error) && error.code === 'INVALID_OPTIONS')
      throw new UsageError(`Option "--xpr" cannot be served: ${error.message}`);
    throw error;
  }
}

function tlsOf(options: TypedOptions): ServeOptions['tls'] {
  const pem = (option: string): string | undefined => {
    const path = options[option];
    return path === undefined ? undefined : readNamedFile(`--${option}`, String(path));
  };
  const [key, cert, ca] = [pem('tls-key'), pem('tls-cert'), pem('tls-ca')];
  if (key === undefined && cert === undefined && ca === undefined) return undefined;
  if (key === undefined)
    throw new UsageError('Option "--tls-key" is missing: https needs a key and its certificate');
  if (cert === undefined)
    throw new UsageError('Option "--tls-cert" is missing: https needs a key and its certificate');
  return { key, cert, ...(ca === undefined ? {} : { ca, requestCert: true }) };
}

const certificateIn = (tls: ServeOptions['tls']): { key: string; cert: string } | undefined =>
  tls === undefined ? undefined : { key: String(tls.key), cert: String(tls.cert) };

async function authenticatorsOf(options: TypedOptions, clock: Clock): Promise<Authenticator[]> {
  const { jwks, issuer, audience } = options;
  const keys = options['api-keys'];
  const found = keys === undefined ? [] : [keysInFile(String(keys), clock)];
  if (jwks === undefined && issuer === undefined && audience === undefined) return found;
  for (const [option, value] of Object.entries({ jwks, issuer, audience }))
    if (value === undefined)
      throw new UsageError(`Option "--${option}" is missing: tokens need --jwks, --issuer and --audience`);
  if (!/^https?:$/.test(URL.canParse(String(jwks)) ? new URL(String(jwks)).protocol : ''))
    throw new UsageError(`Option "--jwks" is "${jwks}", expected the URL of a JSON Web Key Set`);
  const jwt = { jwks: new URL(String(jwks)), issuer: String(issuer), audience: String(audience) };
  if (!isInstalled('jose'))
    throw new UsageError('Option "--jwks" needs a package that is not installed: npm install jose');
  const { bearerJwt } = await import('orrery/admission/jwt');
  return [...found, bearerJwt(jwt, { clock })];
}

/** The option for each field of `serve`. */
const OPTION_OF: Readonly<Record<string, string>> = {
  host: 'host',
  port: 'port',
  entry: 'entry',
  name: 'name',
  publicUrl: 'public-url',
  'grpc.port': 'grpc-port',
  'a2a.delegation.node': 'delegation',
  'tls.key': 'tls-key',
  'tls.cert': 'tls-cert',
  'tls.ca': 'tls-ca',
};

/** Converts INVALID_OPTIONS of `serve` to a UsageError that names the option. */
export function refusalOf(error: unknown, options: TypedOptions): unknown {
  if (!isOrreryError(error) || error.code !== 'INVALID_OPTIONS') return error;
  const field = String(error.details['field']);
  const [root = ''] = field.split('[');
  const option = OPTION_OF[field] ?? (['hosts', 'origins'].includes(root) ? root : undefined);
  if (option === undefined) return error;
  const value = options[option] ?? error.details['value'];
  return new UsageError(
    `Option "--${option}" is ${quoted(value)}, expected ${String(error.details['expected'])}`,
  );
}

const quoted = (value: unknown): string => `"${String(value).replace(/^"|"$/g, '')}"`;
