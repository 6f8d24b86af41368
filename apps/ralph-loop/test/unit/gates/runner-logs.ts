import type { TestCount } from '../../../gates/gate-receipt.ts';

/** Ends of logs as runners print them, each with what they come to. */
export const RUNNER_LOGS: readonly (readonly [title: string, log: string, count: TestCount])[] = [
  [
    'TAP of node:test with subtests, suites, a skip and a todo',
    `TAP version 13
# \\# tests 50
# \\# pass 50
# Subtest: one
ok 1 - one
  ---
  duration_ms: 1.132855
  ...
# Subtest: two
not ok 2 - two
  ---
  failureType: 'testCodeFailure'
  ...
# Subtest: three
ok 3 - three # SKIP
# Subtest: four
ok 4 - four # TODO
# Subtest: s
    # Subtest: in
    ok 1 - in
    1..1
ok 5 - s
1..5
# tests 5
# suites 1
# pass 2
# fail 1
# cancelled 0
# skipped 1
# todo 1
# duration_ms 185.795832
`,
    { passed: 2, failed: 1, skipped: 2, by: 'TAP' },
  ],
  [
    'TAP of tape',
    'TAP version 13\n# a\nok 1 should be\nok 2 is\n\n1..2\n# tests 2\n# pass  2\n\n# ok\n',
    { passed: 2, failed: 0, skipped: 0, by: 'TAP' },
  ],
  [
    'TAP of bats',
    '1..3\nok 1 a\nok 2 b # skip no docker\nnot ok 3 c\n# (in test file a.bats, line 3)\n',
    { passed: 1, failed: 1, skipped: 1, by: 'TAP' },
  ],
  [
    'a plan of TAP that was not kept',
    'TAP version 14\n1..4\nok 1\nok 2\n',
    { passed: 2, failed: 2, skipped: 0, by: 'TAP' },
  ],
  [
    'TAP that gave up',
    'TAP version 14\n1..1\nok 1\nBail out! no disk\n',
    { passed: 1, failed: 1, skipped: 0, by: 'TAP' },
  ],
  [
    'TAP without tests',
    'TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n',
    { passed: 0, failed: 0, skipped: 0, by: 'TAP' },
  ],
  [
    'the spec reporter of node:test',
    '# tests 50\n# pass 50\n✔ one (1.33593ms)\n✖ two (1.26222ms)\n﹣ three (0.2ms) # SKIP\n▶ s\n  ✔ in (0.25ms)\n✔ s (0.8ms)\nℹ tests 5\nℹ suites 1\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 196.61923\n\n✖ failing tests:\n',
    { passed: 2, failed: 2, skipped: 2, by: 'node:test' },
  ],
  [
    'the spec reporter of node:test, where a file without tests is a test that has passed',
    '✔ empty.test.mjs (524.04428ms)\n✔ /home/me/some place/empty.test.ts (5.3ms)\n✔ reads a.mjs (5.312902ms)\nℹ tests 3\nℹ suites 0\nℹ pass 3\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 1306.804779\n',
    { passed: 1, failed: 0, skipped: 0, by: 'node:test' },
  ],
  [
    'TAP of node:test, where a file without tests is a test that has passed',
    'TAP version 13\n# Subtest: empty.test.mjs\nok 1 - empty.test.mjs\n  ---\n  ...\n# Subtest: reads a.mjs\nok 2 - reads a.mjs\n1..2\n# tests 2\n# suites 0\n# pass 2\n# fail 0\n',
    { passed: 1, failed: 0, skipped: 0, by: 'TAP' },
  ],
  [
    'vitest, in colours',
    '\x1b[1m\x1b[30m\x1b[46m RUN \x1b[49m\x1b[39m\x1b[22m \x1b[36mv5.1.1 \x1b[39m\x1b[90m/tmp/v\x1b[39m\n\n\x1b[2m Test Files \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m\x1b[90m (1)\x1b[39m\n\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m\x1b[2m | \x1b[22m\x1b[1m\x1b[32m1 passed\x1b[39m\x1b[22m\x1b[2m | \x1b[22m\x1b[33m1 skipped\x1b[39m\x1b[2m | \x1b[22m\x1b[90m1 todo\x1b[39m\x1b[90m (4)\x1b[39m\n\x1b[2m   Start at \x1b[22m 05:24:14\n',
    { passed: 1, failed: 1, skipped: 2, by: 'vitest' },
  ],
  [
    'vitest with a file that could not be read',
    ' RUN  v5.1.1 /x\n\n Test Files  1 failed (1)\n      Tests  no tests\n',
    { passed: 0, failed: 1, skipped: 0, by: 'vitest' },
  ],
  [
    'vitest with an error outside of tests',
    ' RUN  v5.1.1 /x\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n     Errors  1 error\n',
    { passed: 2, failed: 1, skipped: 0, by: 'vitest' },
  ],
  [
    'vitest without files',
    ' RUN  v5.1.1 /x\n\nNo test files found, exiting with code 0\n',
    { passed: 0, failed: 0, skipped: 0, by: 'vitest' },
  ],
  [
    'jest',
    'PASS ./a.test.js\nTest Suites: 1 passed, 1 total\nTests:       1 skipped, 1 todo, 2 passed, 4 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n',
    { passed: 2, failed: 0, skipped: 2, by: 'jest' },
  ],
  [
    'jest with a suite that could not be run',
    'Test Suites: 1 failed, 1 passed, 2 total\nTests:       3 passed, 3 total\n',
    { passed: 3, failed: 1, skipped: 0, by: 'jest' },
  ],
  [
    'jest without tests',
    'No tests found, exiting with code 0\n',
    { passed: 0, failed: 0, skipped: 0, by: 'jest' },
  ],
  [
    'mocha',
    '\n  a\n    ✔ one\n    1) two\n\n\n  3 passing (10ms)\n  1 pending\n  1 failing\n\n  1) a\n',
    { passed: 3, failed: 1, skipped: 1, by: 'mocha' },
  ],
  ['mocha without tests', '\n\n  0 passing (1ms)\n\n', { passed: 0, failed: 0, skipped: 0, by: 'mocha' }],
  [
    'playwright',
    '\nRunning 6 tests using 2 workers\n\n  1 failed\n    a.spec.ts:3:1 › a ────\n  1 flaky\n    a.spec.ts:4:1 › b\n  1 skipped\n  3 passed (1.2s)\n',
    { passed: 4, failed: 1, skipped: 1, by: 'playwright' },
  ],
  [
    'pytest',
    '============================= test session starts ==============================\nplatform linux -- Python 3.11.7\ncollected 6 items\n\ntest_a.py .Fsx.s [100%]\n=========================== short test summary info ============================\nFAILED test_a.py::test_bad - assert 1 == 2\n============== 1 failed, 2 passed, 2 skipped, 1 xfailed in 0.77s ===============\n',
    { passed: 2, failed: 1, skipped: 3, by: 'pytest' },
  ],
  [
    'pytest -q with errors and warnings, over a minute',
    '..E [100%]\n2 passed, 3 warnings, 1 error in 75.01s (0:01:15)\n',
    { passed: 2, failed: 1, skipped: 0, by: 'pytest' },
  ],
  [
    'pytest without tests',
    '============================ no tests ran in 0.78s =============================\n',
    { passed: 0, failed: 0, skipped: 0, by: 'pytest' },
  ],
  [
    'unittest',
    '.F.s\n----------------------------------------------------------------------\nRan 6 tests in 0.002s\n\nFAILED (failures=1, errors=1, skipped=1, expected failures=1)\n',
    { passed: 2, failed: 2, skipped: 2, by: 'unittest' },
  ],
  [
    'unittest that is well',
    '..\n------\nRan 2 tests in 0.000s\n\nOK\n',
    { passed: 2, failed: 0, skipped: 0, by: 'unittest' },
  ],
  [
    'unittest without tests',
    '------\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n',
    { passed: 0, failed: 0, skipped: 0, by: 'unittest' },
  ],
  [
    'go test',
    'ok  \texample.com/a\t0.012s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test files]\nok  \texample.com/d\t0.001s [no tests to run]\n',
    { passed: 2, failed: 0, skipped: 0, by: 'go test' },
  ],
  [
    'go test of a package that could not be built',
    '# example.com/a\n./a.go:3:1: undefined: x\nFAIL\texample.com/a [build failed]\nFAIL\n',
    { passed: 0, failed: 1, skipped: 0, by: 'go test' },
  ],
  [
    'go test -v',
    '=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/x\n--- FAIL: TestB (0.00s)\n    --- FAIL: TestB/x (0.00s)\n=== RUN   TestC\n    a_test.go:9: no\n--- SKIP: TestC (0.00s)\nFAIL\nFAIL\texample.com/a\t0.002s\nFAIL\n',
    { passed: 1, failed: 1, skipped: 1, by: 'go test' },
  ],
  [
    'go test -json',
    '{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"p"}\n{"Action":"run","Package":"p","Test":"TestA"}\n{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestA (0.00s)\\n"}\n{"Action":"pass","Package":"p","Test":"TestA/x","Elapsed":0}\n{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}\n{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}\n{"Action":"pass","Package":"p","Elapsed":0.002}\n',
    { passed: 1, failed: 0, skipped: 1, by: 'go test' },
  ],
  [
    'gotestsum',
    '✓  a (2ms)\n\nDONE 5 tests, 1 skipped, 1 failure in 0.512s\n',
    { passed: 3, failed: 1, skipped: 1, by: 'go test' },
  ],
  [
    'cargo test with the tests of the documentation',
    'running 3 tests\ntest tests::a ... ok\ntest tests::c ... ignored\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.27s\n\n   Doc-tests c\n\nrunning 1 test\ntest src/lib.rs - f (line 1) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.33s\n',
    { passed: 3, failed: 0, skipped: 1, by: 'cargo test' },
  ],
  [
    'cargo nextest',
    '────────────\n     Summary [   0.013s] 5 tests run: 4 passed, 1 failed, 2 skipped\n',
    { passed: 4, failed: 1, skipped: 2, by: 'cargo test' },
  ],
  [
    'rspec',
    'Finished in 0.01 seconds (files took 0.1 seconds to load)\n5 examples, 1 failure, 1 pending\n',
    { passed: 3, failed: 1, skipped: 1, by: 'rspec' },
  ],
  [
    'rspec with an error outside of examples',
    '0 examples, 0 failures, 1 error occurred outside of examples\n',
    { passed: 0, failed: 1, skipped: 0, by: 'rspec' },
  ],
  [
    'minitest',
    '# Running:\n\n.F.\n\n5 runs, 7 assertions, 1 failures, 1 errors, 1 skips\n',
    { passed: 2, failed: 2, skipped: 1, by: 'minitest' },
  ],
  [
    'phpunit that is well',
    'PHPUnit 11.5.0 by Sebastian Bergmann and contributors.\n\n.....  5 / 5 (100%)\n\nOK (5 tests, 9 assertions)\n',
    { passed: 5, failed: 0, skipped: 0, by: 'phpunit' },
  ],
  [
    'phpunit',
    'FAILURES!\nTests: 6, Assertions: 9, Errors: 1, Failures: 1, Warnings: 2, Skipped: 1.\n',
    { passed: 3, failed: 2, skipped: 1, by: 'phpunit' },
  ],
  [
    'pest',
    '\n  Tests:    1 failed, 1 skipped, 2 passed (5 assertions)\n  Duration: 0.1s\n',
    { passed: 2, failed: 1, skipped: 1, by: 'phpunit' },
  ],
  [
    'maven',
    '[INFO] Running com.x.ATest\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in com.x.ATest\n[INFO] \n[INFO] Results:\n[INFO] \n[WARNING] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n',
    { passed: 2, failed: 2, skipped: 1, by: 'junit' },
  ],
  [
    'the console launcher of JUnit',
    '[         6 tests found           ]\n[         1 tests skipped         ]\n[         5 tests started         ]\n[         0 tests aborted         ]\n[         4 tests successful      ]\n[         1 tests failed          ]\n',
    { passed: 4, failed: 1, skipped: 1, by: 'junit' },
  ],
  ['gradle', '5 tests completed, 1 failed, 1 skipped\n', { passed: 3, failed: 1, skipped: 1, by: 'junit' }],
  [
    'dotnet test',
    'Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 10 ms - x.dll (net8.0)\n',
    { passed: 5, failed: 0, skipped: 1, by: 'dotnet test' },
  ],
  [
    'dotnet test in its longer form',
    'Test Run Failed.\nTotal tests: 4\n     Passed: 2\n     Failed: 1\n    Skipped: 1\n Total time: 1.2 Seconds\n',
    { passed: 2, failed: 1, skipped: 1, by: 'dotnet test' },
  ],
  [
    'dotnet test of the testing platform',
    'Test run summary: Failed!\n  total: 6\n  failed: 1\n  succeeded: 5\n  skipped: 0\n  duration: 1s 200ms\n',
    { passed: 5, failed: 1, skipped: 0, by: 'dotnet test' },
  ],
  [
    'the terminal logger of dotnet',
    'Test summary: total: 5, failed: 1, succeeded: 4, skipped: 0, duration: 1.0s\n',
    { passed: 4, failed: 1, skipped: 0, by: 'dotnet test' },
  ],
  [
    'deno test',
    'running 4 tests from ./a_test.ts\n\nFAILED | 2 passed (3 steps) | 1 failed (1 step) | 1 ignored (10ms)\n',
    { passed: 2, failed: 1, skipped: 1, by: 'deno test' },
  ],
  [
    'bun test',
    'bun test v1.2.3 (abc)\n\na.test.ts:\n(pass) a\n\n 3 pass\n 1 skip\n 1 fail\n 4 expect() calls\nRan 5 tests across 1 file. [10.00ms]\n',
    { passed: 3, failed: 1, skipped: 1, by: 'bun test' },
  ],
  [
    'ctest',
    'Test project /x\n    Start 1: one\n\n67% tests passed, 1 tests failed out of 3\n\nTotal Test time (real) =   0.03 sec\n\nThe following tests did not run:\n\t  3 - three (Skipped)\n\nThe following tests FAILED:\n\t  2 - two (Failed)\n',
    { passed: 1, failed: 1, skipped: 1, by: 'ctest' },
  ],
  [
    'ctest without tests',
    'Test project /x\nNo tests were found!!!\n',
    { passed: 0, failed: 0, skipped: 0, by: 'ctest' },
  ],
  [
    'a script that says it plainly',
    'checking…\n12 passed, 3 failed, 1 skipped\n',
    { passed: 12, failed: 3, skipped: 1, by: 'plain counts' },
  ],
  [
    'a script that says it the other way round',
    'Tests: 0 failed, 7 passed (2 s)\n',
    { passed: 7, failed: 0, skipped: 0, by: 'plain counts' },
  ],
];
