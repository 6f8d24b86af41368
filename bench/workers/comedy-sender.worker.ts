import { workerData } from 'node:worker_threads';
import comedy from 'comedy';
import type { ComedySettings } from '../contenders/comedy.ts';
import { envelopeSource } from '../envelope.ts';
import { pipelined } from '../pipelined.ts';
import { serveRuns } from './pair-end.ts';

const { settings } = workerData as { settings: ComedySettings };
const makeEnvelope = envelopeSource(settings.layout, settings.type);
let sent = 0;

// It looks for modules below the project; `test` keeps it from printing.
const system = comedy({ config: {}, test: true });
const root = await system.rootActor();
const receiver = await root.createChild('/bench/workers/comedy-receiver.ts', {
  mode: 'threaded',
  customParameters: { layout: settings.layout },
});

/** How often the receiver is asked whether it has handled everything that was sent. */
const MOST_LOOKS = 1_000;

/** A send resolves when it is posted, and a question may overtake it: what is in flight at the end of a run is waited for. */
serveRuns(async (count) => {
  if (settings.type === 'request') {
    await pipelined(count, settings.width, () => receiver.sendAndReceive('handle', makeEnvelope(sent++)));
    return;
  }
  await pipelined(count, settings.width, () => receiver.send('handle', makeEnvelope(sent++)));
  await allHandled();
});

async function allHandled(): Promise<void> {
  let handled: unknown;
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    handled = await receiver.sendAndReceive('handledSoFar', {});
    if (handled === sent) return;
  }
  throw new Error(`${sent} were sent, ${handled} were handled`);
}
