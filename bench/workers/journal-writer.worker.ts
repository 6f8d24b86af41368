import { JournalConnection } from '../../runtime/journal/journal-connection.ts';
import { sharedOrder } from '../../runtime/journal/unit-order.ts';
import { nodePort } from '../../runtime/link/port.ts';
import { COMMITS_UNDER_WAY, type DurableSettings, UNIT } from '../contenders/durable.ts';
import { durableUnits } from '../durable-mails.ts';
import { pairEnd, serveRuns } from './pair-end.ts';

const { port, settings } = pairEnd<DurableSettings>();
const mailsOf = durableUnits();
let written = 0;
let end = 0;
/** First numbers of units that are written and not settled. */
const waiting: number[] = [];
let over: () => void = () => undefined;

const line = new JournalConnection({
  port: nodePort(port),
  order: sharedOrder(settings.order),
  limits: { units: COMMITS_UNDER_WAY * settings.units, mails: 1e9, characters: 1e9 },
  onRoom: () => fill(),
});

/** Each unit settles what an earlier one kept: as many rows go as come. */
function fill(): void {
  for (; written < end && !line.isFull; written++) {
    const first = waiting.shift();
    const settled = first === undefined ? [] : Array.from({ length: UNIT }, (_, at) => first + at);
    line.write({ mails: mailsOf(written), settled, records: [] }, keep);
  }
}

function keep(first: number): void {
  waiting.push(first);
  if (written >= end && line.outstanding === 0) over();
}

serveRuns(
  (count) =>
    new Promise((resolve) => {
      over = resolve;
      end = written + Math.ceil(count / UNIT);
      fill();
    }),
);
