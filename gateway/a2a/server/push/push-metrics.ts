import { Counter, Gauge, Registry } from 'prom-client';
import type { PushCounts } from './push-event.ts';

/** What is counted of push notifications, as Prometheus text. `read` is asked when somebody asks. */
export function pushMetrics(read: () => PushCounts): () => Promise<string> {
  const registry = new Registry();
  const total = (what: string, help: string, count: (counts: PushCounts) => number): void => {
    new Counter({
      name: `orrery_gateway_push_${what}_total`,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(count(read()));
      },
    });
  };
  const gauge = (what: string, help: string, count: (counts: PushCounts) => number): void => {
    new Gauge({
      name: `orrery_gateway_push_${what}`,
      help,
      registers: [registry],
      collect() {
        this.set(count(read()));
      },
    });
  };
  total('taken', 'Notifications that their receiver has acknowledged', ({ taken }) => taken);
  total('failed', 'Attempts that are made again', ({ failed }) => failed);
  total('gave_up', 'Receivers that are not asked any more', ({ gaveUp }) => gaveUp);
  total(
    'refused',
    'Receivers that were given up on because they may not be reached',
    ({ refused }) => refused,
  );
  gauge('configs', 'Receivers that are told of tasks', ({ configs }) => configs);
  gauge('waiting', 'Receivers that failed, and are asked again', ({ waiting }) => waiting);
  return () => registry.metrics();
}
