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

/** A send resolves when it is posted: so that nothing is in flight unseen at the end of a run, the last one is asked. */
serveRuns(async (count) => {
  if (settings.type === 'request') {
    await pipelined(count, settings.width, () => receiver.sendAndReceive('handle', makeEnvelope(sent++)));
    return;
  }
  await pipelined(count, settings.width, () => receiver.send('handle', makeEnvelope(sent++)));
  const handled = await receiver.sendAndReceive('handledSoFar', {});
  if (handled !== sent) throw new Error(`${sent} were sent, ${handled} were handled`);
});
