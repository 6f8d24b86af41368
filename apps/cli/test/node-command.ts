import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PeerRow, RefusedPeer } from 'orrery';
import { afterEach, beforeEach } from 'vitest';
import { socketOf } from '../node-socket.ts';
import { askAt } from '../order-socket.ts';
import { Orrery } from './spawn-orrery.ts';

const talker = fileURLToPath(new URL('./fixtures/talker.agent.ts', import.meta.url));

interface Line {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Where the node says that it is, and what it is trusted by. */
export interface NodeLine extends Line {
  readonly publicKey: string;
  readonly addresses: readonly string[];
  readonly keyFile: string;
  readonly trustFile: string;
  readonly alsoRevoked: readonly string[];
}

export interface ListedPeers {
  readonly node: string;
  readonly peers: readonly PeerRow[];
  readonly refused: readonly RefusedPeer[];
}

/** `orrery up` as a node, and `orrery peers` of the same user. Each node is of a user of its own: its folder. */
export class NodeCommand {
  readonly command: Orrery;
  readonly node: string;
  readonly line: NodeLine;
  readonly #env: NodeJS.ProcessEnv;
  readonly #url: string;
  readonly #bearer: string;

  private constructor(node: string, command: Orrery, env: NodeJS.ProcessEnv) {
    this.node = node;
    this.command = command;
    this.#env = env;
    const lines = command.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
    const of = (type: string): Line => {
      const found = lines.find((line) => line.type === type);
      if (found === undefined) throw new Error(`It says nothing of its ${type}: ${command.stdout}`);
      return found;
    };
    this.line = of('node') as NodeLine;
    this.#url = String(of('serving')['url']);
    this.#bearer = String(of('token')['token']);
  }

  /** Resolves when the node is ready; fails with what it says if it is not. `env`: what its process has besides. */
  static async start(
    node: string,
    words: readonly string[],
    place: { readonly folder: string; readonly env: NodeJS.ProcessEnv },
  ): Promise<NodeCommand> {
    const { folder } = place;
    const env = { XDG_RUNTIME_DIR: folder, XDG_STATE_HOME: folder, TALKER: node, ...place.env };
    const command = new Orrery(
      ['up', '--port', '0', '--agents', talker, '--node', node, '--json', ...words],
      { env },
    );
    await command.printed('"ready"');
    if (!command.stdout.includes('"ready"')) throw new Error((await command.ended).stderr);
    return new NodeCommand(node, command, env);
  }

  /** Runs `orrery peers` to its end. */
  peers(...words: string[]) {
    return new Orrery(['peers', ...words], { env: this.#env }).ended;
  }

  /** What `orrery peers` is told, without a process that asks. */
  async list(): Promise<ListedPeers> {
    return (await askAt(this.#socket, 'list', {})) as ListedPeers;
  }

  /** What `orrery peers --trust` does, without a process that asks. */
  async trust(who: string): Promise<void> {
    await askAt(this.#socket, 'trust', { who });
  }

  get #socket(): string {
    return socketOf(join(String(this.#env['XDG_RUNTIME_DIR']), 'orrery'), this.node);
  }

  /** Resolves to the row of this node once it is as wanted. */
  async sees(
    node: string,
    isWanted: (row: PeerRow) => boolean = ({ status }) => status === 'up',
  ): Promise<PeerRow> {
    for (;;) {
      const row = (await this.list()).peers.find((one) => one.node === node);
      if (row !== undefined && isWanted(row)) return row;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Has the agent of this node ask that of another one, through the gateway. */
  async passes(node: string, text: string): Promise<string> {
    const answer = await this.post({ tool: 'pass', arguments: { to: `talker-${node}`, text } });
    return answer.text();
  }

  post(data: object, path = '/rpc'): Promise<Response> {
    return fetch(this.#url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        authorization: `Bearer ${this.#bearer}`,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: {
          tenant: `talker-${this.node}`,
          message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data }] },
        },
      }),
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.command.child.kill(signal);
    await this.command.ended;
  }
}

/** `words`: what `orrery up` is told besides; `env` what its process has besides. */
type StartNode = (node: string, words: readonly string[], env?: NodeJS.ProcessEnv) => Promise<NodeCommand>;

/** Starts nodes for each test of a file, in folders of their own; `folder` has them all. They are killed when the test is over. */
export function nodesOfTest(): { readonly folder: string; readonly start: StartNode } {
  let folder: string;
  const running: NodeCommand[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-nodes-'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((node) => node.stop('SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    get folder() {
      return folder;
    },
    start: async (node, words, env = {}) => {
      const started = await NodeCommand.start(node, words, { folder: join(folder, node), env });
      running.push(started);
      return started;
    },
  };
}

/** As the owner of another node writes it: `KEY=NAME`. */
export const trusted = ({ line: { publicKey }, node }: NodeCommand): string => `${publicKey}=${node}`;
