import { isAside } from '../aside.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { checkDockerfile, isDockerfile } from './dockerfiles.ts';
import { checkPackage, isPackageManifest } from './published-packages.ts';
import { RELEASE_RULES } from './rules.ts';
import { checkWorkflow, isWorkflow } from './workflows.ts';

/** TRITON's job: how the repository is built, checked and given to others. */
export const RELEASE_CHECK: FileScan = {
  rules: RELEASE_RULES,
  nothing: 'there is no workflow, Dockerfile or package.json to look at',
  takes: (file) => isWorkflow(file) || ((isDockerfile(file) || isPackageManifest(file)) && !isAside(file)),
  scan: checkRelease,
};

function checkRelease(source: SourceText, root: string): FileDefects {
  if (isWorkflow(source.file)) return checkWorkflow(source);
  return isDockerfile(source.file) ? checkDockerfile(source) : checkPackage(source, root);
}
