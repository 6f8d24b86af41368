import type { ClientApp, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import type { AttemptRecord } from '../attempt-record.ts';
import type { CodingPermission } from '../code-change.ts';
import type { ToolKind } from '../coding-event.ts';
import { toldInLine } from '../coding-text.ts';
import { AcpFiles } from './acp-files.ts';
import { AcpPermissionRequest, AcpReadRequest, AcpWriteRequest } from './acp-message.ts';
import { answerPermission, isPermitted } from './acp-permission.ts';
import type { AcpUpdates } from './acp-updates.ts';
import { pathWithin } from './path-within.ts';

/** `root` is the real path of the worktree, `requestError` makes an error with which a request is answered. */
export interface AcpClientDeps {
  readonly root: string;
  readonly permission: CodingPermission;
  readonly updates: AcpUpdates;
  readonly record: AttemptRecord;
  readonly isStopped: () => boolean;
  readonly requestError: (code: number, message: string) => Error;
}

/**
 * Answers what a program asks for: at once, since nobody else is there to. All else that it may ask of a client gets the answer
 * that there is no such method.
 */
export class AcpClient {
  readonly #deps: AcpClientDeps;
  readonly #files: AcpFiles;

  constructor(deps: AcpClientDeps) {
    this.#deps = deps;
    this.#files = new AcpFiles(deps.root);
  }

  answering(client: ClientApp): ClientApp {
    return client
      .onRequest('session/request_permission', AcpPermissionRequest, ({ params }) => this.#permission(params))
      .onRequest('fs/read_text_file', AcpReadRequest, ({ params }) =>
        this.#forFile('read', params.path, () => ({ content: this.#files.read(params) })),
      )
      .onRequest('fs/write_text_file', AcpWriteRequest, ({ params }) =>
        this.#forFile('edit', params.path, () => this.#files.write(params) ?? {}),
      );
  }

  #permission({ toolCall, options }: AcpPermissionRequest): RequestPermissionResponse {
    const { permission, updates, isStopped } = this.#deps;
    if (isStopped()) return { outcome: { outcome: 'cancelled' } };
    const asked = updates.asked(toolCall);
    const { isAllowed, optionId } = answerPermission(
      isPermitted(permission, asked, (path) => this.#isWithin(path)),
      options,
    );
    this.#tell(asked.kind, asked.title, isAllowed);
    return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
  }

  /** A file is read and written in the worktree alone, whatever is permitted: elsewhere the program can do it by itself. */
  #forFile<Answer>(kind: 'read' | 'edit', path: string, use: () => Answer): Answer {
    const { permission, isStopped, requestError } = this.#deps;
    if (isStopped()) throw requestError(CANCELLED, 'The attempt is over');
    const asked = { kind, paths: [path] };
    if (!this.#isWithin(path) || !isPermitted(permission, asked, () => true)) {
      this.#tell(kind, toldInLine(`${kind} ${path}`), false);
      throw requestError(INVALID_PARAMS, `${path} may not be ${kind === 'read' ? 'read' : 'written'}`);
    }
    try {
      return use();
    } catch (error) {
      const isMissing = (error as { code?: unknown }).code === 'ENOENT';
      throw requestError(isMissing ? NOT_FOUND : INTERNAL, reasonOf(error));
    }
  }

  #isWithin(path: string): boolean {
    return pathWithin(this.#deps.root, path) !== undefined;
  }

  #tell(kind: ToolKind, title: string, isAllowed: boolean): void {
    const { record, updates } = this.#deps;
    record.takeAll(updates.end());
    record.take({ type: 'permission.answered', kind, title: title === '' ? kind : title, isAllowed });
  }
}

/** Codes of JSON-RPC and of the protocol. */
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;
const NOT_FOUND = -32_002;
const CANCELLED = -32_800;
