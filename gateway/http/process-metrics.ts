import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** What every Node process is measured by, under prom-client's names. Measured from the first scrape on, once for the process. */
export function processMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry.metrics();
}
