/**
 * Users' Python at work: each function in processes of its own, which are given batches as Arrow's buffers through a pipe and give a
 * column back. Such a process can do whatever the server's account can, but it is not the server: it is killed when it takes too long, has
 * a limit of memory, and nothing that it answers is believed before it is looked at.
 *
 * <p>Entry: {@link dev.millrace.expressions.python.PythonWorkers} starts processes and lends them, on any thread; a {@link
 * dev.millrace.expressions.python.PythonWorker} is for one thread at a time. Neither watches how long a call takes: who calls does, and
 * ends one by killing its process.
 */
package dev.millrace.expressions.python;
