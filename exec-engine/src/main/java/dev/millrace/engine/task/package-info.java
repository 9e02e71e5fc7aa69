/**
 * Tasks: inputs, a chain (or small graph) of operators called directly, and outlets.
 *
 * <p>Entry: {@link dev.millrace.engine.task.PipelineTask}. A task is driven by one worker at a time; what is called from
 * other threads says so. Operators see one watermark and one epoch's end per input and know nothing of all this.
 */
package dev.millrace.engine.task;
