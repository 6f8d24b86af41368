import { getHeapStatistics } from 'node:v8';

/** What Node's `performance` has beside that of browsers, whose types may be the ones that are known here. */
interface EventLoop {
  readonly eventLoopUtilization: () => { readonly active: number };
}
const { eventLoopUtilization } = performance as unknown as EventLoop;

/** What this thread has used: processor time, the time in which its event loop did not wait, and its heap. */
export function threadMeasures() {
  const { user, system } = process.threadCpuUsage();
  return {
    cpuMs: (user + system) / 1_000,
    busyMs: eventLoopUtilization().active,
    heapBytes: getHeapStatistics().used_heap_size,
  };
}
