package dev.millrace.server.regression;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A file of statements with what PostgreSQL's psql prints for it, and what it was answered here. */
final class RegressionFile {
    /**
     * @param statements how many statements
     * @param same how many of them were answered alike
     * @param differences those that were not
     */
    record Outcome(int statements, int same, List<Difference> differences) {}

    /**
     * @param place where the statement is in the file
     * @param statements how many statements are at that line
     * @param cause why, in words that alike differences share
     * @param shown the statement, PostgreSQL's answer and the one here
     */
    record Difference(String place, int statements, String cause, String shown) {}

    private RegressionFile() {}

    /**
     * @param script as it is in the file
     * @param expected what psql prints for it with PostgreSQL
     * @param run as it was sent, with the same steps
     * @param printed what psql printed for it here
     */
    static Outcome compare(PsqlScript script, List<String> expected, PsqlScript run, List<String> printed) {
        List<PsqlScript.Step> steps = script.steps();
        List<Optional<List<String>>> theirs = Transcript.answers(steps, expected);
        List<Optional<List<String>>> ours = Transcript.answers(run.steps(), printed);
        int statements = 0;
        int same = 0;
        List<Difference> differences = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            PsqlScript.Step step = steps.get(i);
            if (step.statements() == 0) {
                continue;
            }
            List<String> theirLines = theirs.get(i).orElse(List.of("what PostgreSQL prints is not in its file"));
            Answer postgres = Answer.of(theirLines, step.text());
            Optional<Answer> here = ours.get(i).map(lines -> Answer.of(lines, step.text()));
            statements += step.statements();
            if (here.filter(postgres::isSame).isPresent()) {
                same += step.statements();
                continue;
            }
            String cause = here.map(answer -> answer.cause(postgres)).orElse("psql had ended");
            String shown = step.text() + "\n-- PostgreSQL\n" + String.join("\n", theirLines) + "\n-- Millrace\n"
                    + String.join("\n", ours.get(i).orElse(List.of())) + "\n";
            differences.add(new Difference(Integer.toString(step.line()), step.statements(), cause, shown));
        }
        return new Outcome(statements, same, differences);
    }
}
