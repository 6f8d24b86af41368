import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that ends with its test. */
export class TemporaryFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-loop-')));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
