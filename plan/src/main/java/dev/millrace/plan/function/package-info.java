/**
 * Which scalar functions there are, and what types they take and give. The one list: the front end resolves names
 * against it, the engine implements every entry.
 *
 * <p>Entry: {@link dev.millrace.plan.function.FunctionCatalog}.
 */
package dev.millrace.plan.function;
