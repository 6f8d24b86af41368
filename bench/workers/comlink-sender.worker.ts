import { type Endpoint, wrap } from 'comlink';
import type { ComlinkSettings } from '../contenders/comlink.ts';
import { envelopeSource } from '../envelope.ts';
import { pipelined } from '../pipelined.ts';
import type { RemoteReceiver } from './comlink-receiver.worker.ts';
import { pairEnd, serveRuns } from './pair-end.ts';

const { port, settings } = pairEnd<ComlinkSettings>();
const makeEnvelope = envelopeSource(settings.layout, settings.type);
const receiver = wrap<RemoteReceiver>(port as unknown as Endpoint);
let sent = 0;

serveRuns((count) => pipelined(count, settings.width, () => receiver.handle(makeEnvelope(sent++))));
