import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Finding {
  readonly severity: string;
  readonly line: number;
  readonly rule: string;
}

interface Message {
  readonly role: string;
  readonly content: string | null;
}

interface Chat {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/**
 * A model server in the shape of OpenAI's chat completions, so that the example needs no network. It knows two tricks: it
 * has a tool called, and says what a reviewer or a writer would say of what that gave. The first time that it reviews it
 * makes a finding up, as models do.
 */
export async function startLittleModel() {
  const server = createServer(async (request, response) => {
    const chat = JSON.parse(await bodyOf(request)) as Chat;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(completion(chat)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function completion(chat: Chat): object {
  const reply = replyTo(chat);
  const said = JSON.stringify(reply);
  const message =
    'call' in reply
      ? {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call-1', type: 'function', function: reply.call }],
        }
      : { role: 'assistant', content: said };
  return {
    id: 'chat-1',
    object: 'chat.completion',
    created: 1,
    model: chat.model,
    choices: [{ index: 0, message, finish_reason: 'call' in reply ? 'tool_calls' : 'stop' }],
    usage: tokensOf(JSON.stringify(chat.messages), said),
  };
}

function replyTo({ messages, tools = [] }: Chat): object {
  const asked = JSON.parse(messages.find(({ role }) => role === 'user')?.content ?? '{}') as {
    root: string;
    feedback?: string;
  };
  const scanned = messages.findLast(({ role }) => role === 'tool')?.content;
  const [tool] = tools;
  if (scanned === undefined || scanned === null)
    return { call: { name: tool?.function.name, arguments: JSON.stringify({ root: asked.root }) } };
  const { findings } = JSON.parse(scanned) as { findings: Finding[] };
  if (messages[0]?.content?.startsWith('You write'))
    return { notes: [{ kind: 'summary', reason: sentence(findings) }] };
  const urgent = findings.filter(({ severity }) => severity === 'critical' || severity === 'high');
  const madeUp =
    asked.feedback === undefined ? urgent.slice(0, 1).map((one) => ({ ...one, line: one.line + 40 })) : [];
  const left = findings.length - urgent.length;
  return { findings: [...urgent, ...madeUp], notes: [{ kind: 'left', reason: `${left} of them can wait` }] };
}

const sentence = (findings: readonly Finding[]): string =>
  `The scan found ${findings
    .map(({ rule }) => rule)
    .sort()
    .join(' and ')}. Begin with what is critical.`;

const tokensOf = (input: string, output: string) => {
  const [prompt, completed] = [Math.ceil(input.length / 4), Math.ceil(output.length / 4)];
  return { prompt_tokens: prompt, completion_tokens: completed, total_tokens: prompt + completed };
};

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
