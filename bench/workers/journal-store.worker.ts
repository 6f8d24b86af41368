import { JournalServer } from '../../runtime/journal/journal-server.ts';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import { systemSeams, nodeEventLoop } from '../../runtime/protocol/system-seams.ts';
import { nodePort } from '../../runtime/link/port.ts';
import type { DurableSettings } from '../contenders/durable.ts';
import { pairEnd } from './pair-end.ts';

const { port, settings } = pairEnd<DurableSettings>();
const line = nodePort(port);
new JournalServer({
  store: SqliteStore.open({ path: settings.path }),
  seams: systemSeams(),
  loop: nodeEventLoop(),
  limits: { units: settings.units, mails: 1e9, characters: 1e9 },
}).add(line);
line.hold();
