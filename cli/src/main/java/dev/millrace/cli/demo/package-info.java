/**
 * The demonstration: {@code millrace demo}. Standing queries over this machine's vital signs, shown live.
 *
 * <p>Entry: {@link dev.millrace.cli.demo.DemoCommand}. {@code DemoQueries} is the SQL, all there is of logic; {@code Vitals}
 * keeps what the subscriptions brought; {@code Dashboard} draws it. One thread polls and draws.
 */
package dev.millrace.cli.demo;
