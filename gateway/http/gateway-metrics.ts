import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Upper bounds of the histogram, in seconds. */
const BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

/** Gauges that are read when metrics are scraped. */
export interface GatewayGauges {
  readonly openStreams: () => number;
  readonly requestsInHand: () => number;
  readonly bytesInHand: () => number;
}

/** Counts of a server's connections; bytes are of all connections so far. */
export interface CountedConnections {
  readonly size: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The counters of a gateway. Routes are named by their patterns, so that no path makes a series of its own. */
export class GatewayMetrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #seconds: Histogram<'route'>;
  readonly #refusals: Counter<'code'>;
  readonly #bodyBytes: Counter;
  readonly #faults: Counter;
  readonly #connections = new Set<CountedConnections>();

  constructor({ openStreams, requestsInHand, bytesInHand }: GatewayGauges) {
    const registers = [this.#registry];
    const name = (text: string): string => `orrery_gateway_${text}`;
    this.#requests = new Counter({
      name: name('requests_total'),
      help: 'Requests answered, by route and status; a stream counts when it begins',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: name('request_seconds'),
      help: 'Time until the answer began',
      labelNames: ['route'],
      buckets: BUCKETS,
      registers,
    });
    this.#refusals = new Counter({
      name: name('refusals_total'),
      help: 'Requests that were not let in, by code',
      labelNames: ['code'],
      registers,
    });
    this.#bodyBytes = new Counter({
      name: name('body_bytes_total'),
      help: 'Bytes of bodies that were read',
      registers,
    });
    this.#faults = new Counter({
      name: name('faults_total'),
      help: 'Errors that no caller was told of',
      registers,
    });
    this.#gauge(name('open_streams'), 'Streams that are not over', openStreams);
    this.#gauge(name('requests_in_hand'), 'Requests that are not answered, streams included', requestsInHand);
    this.#gauge(name('bytes_in_hand'), 'Bytes of bodies of requests that are not answered', bytesInHand);
    this.#gauge(name('connections'), 'Connections that are open', () => this.#sum(({ size }) => size));
    this.#total(name('received_bytes_total'), 'Bytes received', () => this.#sum(({ bytesIn }) => bytesIn));
    this.#total(name('sent_bytes_total'), 'Bytes sent', () => this.#sum(({ bytesOut }) => bytesOut));
  }

  answered(route: string, method: string, status: number, seconds: number): void {
    this.#requests.inc({ route, method, status });
    this.#seconds.observe({ route }, seconds);
  }

  refused(code: string): void {
    this.#refusals.inc({ code });
  }

  read(bytes: number): void {
    this.#bodyBytes.inc(bytes);
  }

  faulted(): void {
    this.#faults.inc();
  }

  /** Counts the connections of a server as well. */
  over(connections: CountedConnections): void {
    this.#connections.add(connections);
  }

  #sum(read: (connections: CountedConnections) => number): number {
    return [...this.#connections].reduce((sum, connections) => sum + read(connections), 0);
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  #total(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Prometheus text exposition. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
