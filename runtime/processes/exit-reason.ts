/** What V8 writes before it gives up. */
const OUT_OF_HEAP =
  /JavaScript heap out of memory|Fatal JavaScript invalid size error|Invalid (array|table) length/;

/** How a process ended, in words. `lastWords` is the end of what it wrote to standard error. */
export function exitReason(code: number | null, signal: string | null, lastWords: string): string {
  const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  return OUT_OF_HEAP.test(lastWords) ? `its process ran out of memory and ${how}` : `its process ${how}`;
}
