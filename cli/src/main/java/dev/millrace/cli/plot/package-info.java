/**
 * Pictures of answers. Entry: {@link dev.millrace.cli.plot.PlotCommand}.
 *
 * <p>What it is not: a chart library. One kind of picture is drawn, lines over what grows, by text that is written out.
 */
package dev.millrace.cli.plot;
