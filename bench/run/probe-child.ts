import { Unavailable } from '../measurement.ts';
import { loadPlugin } from '../plugin.ts';
import { type ProbeAnswer, ProbeOrder } from './probe-protocol.ts';

// The process of one probe: what earlier measurements left in a heap is not in its numbers.

const order = ProbeOrder.parse(JSON.parse(process.argv[2] ?? ''));

async function answer(): Promise<ProbeAnswer> {
  try {
    const { measurements = [] } = await loadPlugin(new URL(order.plugin));
    const probe = measurements.find(({ kind, name }) => kind === 'probe' && name === order.probe);
    if (probe?.kind !== 'probe') throw new Error(`${order.plugin} has no probe ${order.probe}`);
    return { readings: [...(await probe.read(order.effort))] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return error instanceof Unavailable ? { unavailable: reason } : { failure: reason };
  }
}

const line = `${JSON.stringify(await answer())}\n`;
process.stdout.write(line, () => process.exit(0));
