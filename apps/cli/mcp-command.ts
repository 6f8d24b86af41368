import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import type { McpOptions } from 'orrery/gateway';
import type { CommandDeps } from './command.ts';
import { readWorkers } from './option-values.ts';
import type { TypedOptions } from './run-plan.ts';
import { startTeam } from './start-team.ts';
import { agentsMeant } from './agents-meant.ts';
import { unapprovedCatalogues } from './unapproved-catalogues.ts';
import { UsageError } from './usage-error.ts';

const SIGNAL_EXIT = 128;

/**
 * Runs `orrery mcp`: serves the team over standard input and output, until the input ends or a signal comes. Resolves to the
 * exit code.
 */
export async function mcpCommand(options: TypedOptions, deps: CommandDeps): Promise<number> {
  const mcp = mcpOptionsOf(options);
  const agents = await agentsMeant(options['agents']);
  const workers = readWorkers(options['workers']);
  const { journal, name } = options;
  const output = protocolOutput();
  const { serveStdio } = await import('orrery/gateway');
  await using system = await startTeam({
    agents,
    ...(workers === undefined ? {} : { workers }),
    ...(journal === undefined ? {} : { journal: resolve(String(journal)) }),
  });
  // Standard output is for the client only.
  for (const { reason } of await unapprovedCatalogues(system)) process.stderr.write(`${reason}\n`);
  const serving = await serveStdio(system, {
    output,
    version: deps.version,
    mcp,
    ...(name === undefined ? {} : { name: String(name) }),
    ...(options['trust'] === true ? { trusts: () => true } : {}),
  });
  const { signal } = deps.interruption;
  const interrupted = Promise.withResolvers<void>();
  if (signal.aborted) interrupted.resolve();
  signal.addEventListener('abort', () => interrupted.resolve(), { once: true });
  await Promise.race([serving.ended, interrupted.promise]);
  await serving.close();
  await system.stop({ drainMs: 0 });
  const { signalNumber } = deps.interruption;
  return signalNumber === undefined ? 0 : SIGNAL_EXIT + signalNumber;
}

/** Reserves standard output for messages: anything else that this process prints goes to standard error. */
function protocolOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, (error) => done(error ?? null)),
  });
  stdout.once('error', (error) => output.destroy(error));
  output.on('error', () => undefined);
  return output;
}

/** Reads the options of MCP. Throws UsageError naming option and value. */
function mcpOptionsOf(options: TypedOptions): McpOptions {
  const { names } = options;
  if (names !== undefined && names !== 'agent.tool' && names !== 'portable')
    throw new UsageError(`Option "--names" is "${names}", expected agent.tool or portable`);
  const most = options['search-above'];
  if (most !== undefined && !/^\d{1,9}$/.test(String(most)))
    throw new UsageError(`Option "--search-above" is "${most}", expected a number of tools`);
  return {
    ...(names === undefined ? {} : { names }),
    ...(most === undefined ? {} : { searchAbove: Number(most) }),
    ...(options['read-only'] === true ? { readOnly: true } : {}),
  };
}
