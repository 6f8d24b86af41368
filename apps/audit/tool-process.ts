/**
 * The entry of a tool's process. It reads its order from standard input, and writes messages to standard output, one a line.
 * If standard input ends first, its parent has ended, and the process ends too.
 */
import type { Writable } from 'node:stream';
import type { Tool } from './tool.ts';
import type { ToolMessage, ToolOrder } from './tool-message.ts';
import { toolReport } from './tool-report.ts';

const write: Writable['write'] = process.stdout.write.bind(process.stdout) as Writable['write'];
// Output of libraries goes to standard error.
process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;

const say = (message: ToolMessage): Promise<void> =>
  new Promise((said) => write(`${JSON.stringify(message)}\n`, 'utf8', () => said()));

async function work(order: ToolOrder): Promise<ToolMessage> {
  const tool = await toolNamed(order);
  let told = -1;
  const progress = (done: number, of: number): void => {
    const percent = of > 0 ? Math.floor((100 * done) / of) : 0;
    if (percent === told) return;
    told = percent;
    void say({ progress: [done, of] });
  };
  return { result: await toolReport(tool, order, { agent: order.agent, progress }) };
}

async function toolNamed({ module, tool }: ToolOrder): Promise<Tool> {
  const exported = Object.values((await import(module)) as Record<string, unknown>).flat();
  const found = exported.find((one) => (one as Partial<Tool> | null | undefined)?.name === tool);
  if (found === undefined) throw new Error(`${module} exports no tool ${tool}`);
  return found as Tool;
}

const faultOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

let given = '';
process.stdin.setEncoding('utf8');
process.stdin.on('end', () => process.exit(1));
process.stdin.on('data', function listen(text: string) {
  given += text;
  if (!given.endsWith('\n')) return;
  process.stdin.off('data', listen).resume();
  const order = JSON.parse(given) as ToolOrder;
  given = '';
  void work(order)
    .catch((error: unknown): ToolMessage => ({ error: faultOf(error) }))
    .then(say)
    .then(() => process.exit(0));
});
