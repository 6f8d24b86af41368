import { getHeapStatistics } from 'node:v8';

/** What this thread has used: processor time, the time in which its event loop did not wait, and its heap. */
export function threadMeasures() {
  const { user, system } = process.threadCpuUsage();
  return {
    cpuMs: (user + system) / 1_000,
    busyMs: performance.eventLoopUtilization().active,
    heapBytes: getHeapStatistics().used_heap_size,
  };
}
