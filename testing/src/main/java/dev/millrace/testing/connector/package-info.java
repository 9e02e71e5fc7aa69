/**
 * The conformance suite of connectors, and what they are lent in tests. A connector's test class supplies the outside, the suite does the rest: restarts at
 * any point, outsides that go away, rows that come again. That it catches what does not hold to a contract is seen by each connector with faults put into it: {@link
 * dev.millrace.testing.connector.SourceFault} and its like.
 *
 * <p>Entry: {@link dev.millrace.testing.connector.SinkConformance}, {@link dev.millrace.testing.connector.SourceConformance}, {@link dev.millrace.testing.connector.PushedConformance}, {@link dev.millrace.testing.connector.FeedConformance}, {@link dev.millrace.testing.connector.TestSinkContext}.
 */
package dev.millrace.testing.connector;
