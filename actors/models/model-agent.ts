import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { toolNotFound } from '../../runtime/protocol/tool-errors.ts';
import { clientOf, type HandlingContext } from '../../runtime/public.ts';
import { toolsFor } from '../tools/agent-tools.ts';
import { type ModelAgentOptions, readOptions, type ModelLoopSettings } from './model-agent-options.ts';
import type { ModelTask } from './model-capability.ts';
import { namesMissing, selectTools } from './select-tools.ts';
import { ModelLoop } from './model-loop.ts';
import { ToolBox } from './tool-box.ts';

/**
 * An agent that thinks with a model, to be exported by a module or started as it is. It is asked, put to tasks, proposed to
 * and swarmed with as the others are; its model may call the tools of the others, under the terms of the work in hand.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export function modelAgent(options: ModelAgentOptions): AgentDefinition {
  const { identity, settings, tasks } = readOptions(options);
  const agent = new AgentDefinition(identity);
  for (const task of tasks) {
    const { capability } = task;
    if (task.streams)
      agent.handleStream(capability, (input, ctx) =>
        streamed({ settings, task }, input, ctx as HandlingContext<never>),
      );
    else
      agent.handle(capability, (input, ctx) =>
        loopOf({ settings, task }, ctx as HandlingContext<never>, () => undefined).answer(input),
      );
  }
  return agent;
}

interface Asked {
  readonly settings: ModelLoopSettings;
  readonly task: ModelTask;
}

function loopOf(
  { settings, task }: Asked,
  ctx: HandlingContext<never>,
  onText: (text: string) => void,
): ModelLoop {
  return new ModelLoop({ settings, task, tools: toolBoxOf(settings, ctx), onText }, ctx);
}

function toolBoxOf(
  { tools: choice, limits }: ModelLoopSettings,
  ctx: HandlingContext<never>,
): ToolBox | undefined {
  if (choice === undefined) return undefined;
  const agentIds = clientOf(ctx)
    .team.cards()
    .map(({ id }) => id);
  const { service, tools } = toolsFor(ctx as HandlingContext<unknown>, (all) => {
    const [missing] = namesMissing(all, choice, agentIds);
    if (missing !== undefined) throw toolNotFound(missing);
    return selectTools(all, choice, ctx.self);
  });
  return new ToolBox(ctx, { service, tools, limits });
}

/** The text of all calls as it comes, an empty line between what was said before tools were called and after it. */
async function* streamed(
  asked: Asked,
  input: unknown,
  ctx: HandlingContext<never>,
): AsyncGenerator<string, void> {
  const feed = new TextFeed();
  const loop = loopOf(asked, ctx, (text) => feed.push(text));
  const answered = loop.answer(input).then(
    () => feed.end(),
    (error: unknown) => feed.fail(error),
  );
  try {
    yield* feed;
  } finally {
    loop.stop();
    await answered;
  }
}

/** Text that is written when it comes, and read when somebody wants it. */
class TextFeed implements AsyncIterable<string> {
  #waiting: string[] = [];
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(text: string): void {
    this.#waiting.push(text);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** What came before is still read. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for (;;) {
      const text = this.#waiting.join('');
      this.#waiting = [];
      if (text !== '') yield text;
      else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#isOver) return;
      else await this.#woken();
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
