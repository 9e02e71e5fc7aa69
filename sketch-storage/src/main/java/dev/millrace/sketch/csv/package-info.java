/**
 * CSV files as columns that a sketch can be made of: separator, header, types, missing values and the time are found out.
 *
 * <p>Entry: {@link dev.millrace.sketch.csv.CsvTable}. Whole files are held in memory; one thread.
 */
package dev.millrace.sketch.csv;
