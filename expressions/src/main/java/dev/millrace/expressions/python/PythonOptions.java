package dev.millrace.expressions.python;

/**
 * How Python is run.
 *
 * @param command the interpreter: a path, or a name that is looked for as a shell does
 * @param mostProcesses at once, of all functions; who wants one more waits
 * @param memoryBytes of data that one may have (Linux, {@code RLIMIT_DATA}); what wants more gets a MemoryError
 */
public record PythonOptions(String command, int mostProcesses, long memoryBytes) {
    public static PythonOptions defaults() {
        return new PythonOptions("python3", 16, 1L << 30);
    }
}
