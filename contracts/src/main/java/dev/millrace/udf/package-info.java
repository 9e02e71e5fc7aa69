/**
 * What users' Java functions implement: {@code CREATE FUNCTION f(BIGINT) RETURNS TEXT LANGUAGE JAVA AS 'path.jar',
 * 'org.example.Class'}. A scalar function may as well be a public static method of the class.
 *
 * <p>Values come and go as BOOLEAN Boolean, SMALLINT Short, INTEGER Integer, BIGINT Long, REAL Float, DOUBLE PRECISION
 * Double, NUMERIC BigDecimal, TEXT, VARCHAR, CHAR and JSONB String, BYTEA byte[], DATE LocalDate, TIME LocalTime,
 * TIMESTAMP LocalDateTime, TIMESTAMPTZ Instant, INTERVAL Duration (a month counts 30 days), UUID UUID, arrays and rows
 * List; NULL as null. An implementation has a public constructor without parameters and is used by one thread at a time;
 * what it throws fails the query that called it, with the function's name and the row.
 *
 * <p>Entry: {@link dev.millrace.udf.ScalarFunction}, {@link dev.millrace.udf.AggregateFunction}, {@link
 * dev.millrace.udf.TableFunction}.
 */
package dev.millrace.udf;
