import type { Context, Span as ApiSpan } from '@opentelemetry/api';
import { invalidOptions, reasonOf } from '../protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from '../protocol/optional-packages.ts';
import { type TraceContext, traceContextOf } from '../protocol/trace-context.ts';
import { traceHere } from '../protocol/system-seams.ts';
import type { Span, SpanAttributes, SpanFault, SpanKind, SpanOptions, Tracer } from '../protocol/tracer.ts';

type Api = typeof import('@opentelemetry/api');

/**
 * The tracer of this thread, once `module` has registered a provider in it. Fails with PEERS_MISSING without the package of the
 * API, and with INVALID_OPTIONS when the module cannot be loaded.
 */
export async function loadTracer(module: string | undefined): Promise<Tracer> {
  requirePackages('Tracing', PACKAGES_FOR.tracing);
  if (module !== undefined) await load(module);
  const tracer = new OpenTelemetryTracer(await import('@opentelemetry/api'));
  traceHere(tracer);
  return tracer;
}

async function load(module: string): Promise<void> {
  try {
    await import(module);
  } catch (error) {
    throw invalidOptions('tracing', module, `a module that can be loaded: ${reasonOf(error)}`);
  }
}

/** Makes spans by the API of OpenTelemetry, with whatever provider, sampler and exporter the program has registered. */
class OpenTelemetryTracer implements Tracer {
  readonly #api: Api;
  readonly #kinds: Readonly<Record<SpanKind, number>>;

  constructor(api: Api) {
    this.#api = api;
    const { INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER } = api.SpanKind;
    this.#kinds = {
      internal: INTERNAL,
      server: SERVER,
      client: CLIENT,
      producer: PRODUCER,
      consumer: CONSUMER,
    };
  }

  start({ name, kind, attributes, parent, startMs }: SpanOptions): Span {
    const { trace } = this.#api;
    const options = {
      kind: this.#kinds[kind],
      attributes: definedIn(attributes),
      ...(startMs === undefined ? {} : { startTime: startMs }),
    };
    const above = this.#contextOf(parent);
    // Asked for each time: a provider may be registered after the system was started.
    const span = trace.getTracer('orrery').startSpan(name, options, above);
    return new OpenTelemetrySpan(this.#api, span, trace.setSpan(above, span));
  }

  active(): TraceContext | undefined {
    const span = this.#api.trace.getActiveSpan();
    return span && writtenContext(span);
  }

  async flush(): Promise<void> {
    const provider = this.#api.trace.getTracerProvider() as Partial<Exporting> & {
      getDelegate?(): Partial<Exporting>;
    };
    await (provider.getDelegate?.() ?? provider).forceFlush?.().catch(() => undefined);
  }

  #contextOf(parent: SpanOptions['parent']): Context {
    const { context, trace, ROOT_CONTEXT, createTraceState } = this.#api;
    if (parent === undefined) return context.active();
    if (parent === 'none') return ROOT_CONTEXT;
    const [, traceId = '', spanId = '', flags = ''] = parent.traceparent.split('-');
    return trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: Number.parseInt(flags, 16),
      isRemote: true,
      ...(parent.tracestate === undefined ? {} : { traceState: createTraceState(parent.tracestate) }),
    });
  }
}

/** What providers of the SDK can do beside what the API asks of them. */
interface Exporting {
  forceFlush(): Promise<void>;
}

class OpenTelemetrySpan implements Span {
  readonly context: TraceContext | undefined;
  readonly #api: Api;
  readonly #span: ApiSpan;
  readonly #within: Context;
  #isOver = false;

  constructor(api: Api, span: ApiSpan, within: Context) {
    this.#api = api;
    this.#span = span;
    this.#within = within;
    this.context = writtenContext(span);
  }

  run<Result>(work: () => Result): Result {
    return this.#api.context.with(this.#within, work);
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(definedIn(attributes));
  }

  end(fault?: SpanFault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (fault !== undefined) {
      const code = 'code' in fault ? String(fault.code) : 'HANDLER_FAILED';
      this.#span.setAttribute('error.type', code);
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code });
    }
    this.#span.end();
  }
}

/** The context of a span as it is sent; undefined of one that is none, because nobody provides any. */
function writtenContext(span: ApiSpan): TraceContext | undefined {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return traceContextOf(`00-${traceId}-${spanId}-${flags}`, traceState?.serialize());
}

const definedIn = (attributes: SpanAttributes): Record<string, string | number | boolean> =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | number | boolean
  >;
