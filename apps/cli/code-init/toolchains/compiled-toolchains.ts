import { type CommittedFiles, present, type Toolchain } from '../toolchain.ts';

/** A package of Cargo. */
export function cargoToolchain(files: CommittedFiles): Toolchain | undefined {
  if (!files.paths.has('Cargo.toml')) return undefined;
  const locks = present(files, 'Cargo.lock');
  const locked = locks.length > 0 ? ' --locked' : '';
  return {
    id: 'cargo',
    found: ['Cargo.toml', ...locks],
    makes: ['target'],
    gates: [{ name: 'test', run: `cargo test${locked}`, tests: true }],
    protect: ['Cargo.toml', ...locks, '.cargo/**', 'rust-toolchain*'],
    lacks: [],
  };
}

/** A module of Go. A package with tests counts as one. */
export function goToolchain(files: CommittedFiles): Toolchain | undefined {
  if (!files.paths.has('go.mod')) return undefined;
  const manifests = present(files, 'go.mod', 'go.sum', 'go.work');
  return {
    id: 'go',
    found: manifests,
    makes: [],
    gates: [
      { name: 'vet', run: 'go vet ./...' },
      { name: 'test', run: 'go test ./...', tests: true },
    ],
    protect: manifests,
    lacks: [],
  };
}

/** A build of Maven or Gradle, with its wrapper where it is committed. */
export function jvmToolchain(files: CommittedFiles): Toolchain | undefined {
  const builds = present(files, 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts');
  if (files.paths.has('pom.xml'))
    return {
      id: 'maven',
      found: ['pom.xml', ...present(files, 'mvnw')],
      makes: ['target'],
      gates: [
        { name: 'test', run: `${files.paths.has('mvnw') ? './mvnw' : 'mvn'} --batch-mode test`, tests: true },
      ],
      protect: ['**/pom.xml', 'pom.xml', '.mvn/**', ...present(files, 'mvnw')],
      lacks: [],
    };
  if (builds.length === 0) return undefined;
  return {
    id: 'gradle',
    found: [...builds, ...present(files, 'gradlew')],
    makes: ['build', '.gradle'],
    gates: [{ name: 'test', run: `${files.paths.has('gradlew') ? './gradlew' : 'gradle'} test` }],
    protect: [...builds, 'gradle/**', ...present(files, 'gradlew', 'gradle.properties')],
    lacks: ['Gradle does not say how many tests have passed, so its exit code alone decides'],
  };
}

/** Projects of .NET. */
export function dotnetToolchain(files: CommittedFiles): Toolchain | undefined {
  const projects = [...files.paths].filter((path) => /\.(?:csproj|fsproj|vbproj)$/.test(path));
  const solutions = [...files.paths].filter((path) => /^[^/]+\.slnx?$/.test(path));
  const [only, ...others] = solutions.length > 0 ? solutions : projects;
  if (only === undefined) return undefined;
  const locks = [...files.paths].filter((path) => /(?:^|\/)packages\.lock\.json$/.test(path));
  return {
    id: 'dotnet',
    found: [only, ...others.slice(0, 2)],
    ...(locks.length === 0 ? {} : { setup: 'dotnet restore --locked-mode' }),
    makes: ['bin', 'obj'],
    gates: [{ name: 'test', run: 'dotnet test', tests: true }],
    protect: ['**/*.csproj', '**/*.fsproj', '**/*.vbproj', ...solutions, ...locks],
    lacks: [],
  };
}
