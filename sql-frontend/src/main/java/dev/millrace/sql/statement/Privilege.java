package dev.millrace.sql.statement;

/** What a role may be granted, with the letter that PostgreSQL's access lists have for it. */
public enum Privilege {
    SELECT('r'),
    INSERT('a'),
    UPDATE('w'),
    DELETE('d'),
    TRUNCATE('D'),
    REFERENCES('x'),
    TRIGGER('t'),
    EXECUTE('X'),
    USAGE('U'),
    CREATE('C'),
    CONNECT('c'),
    TEMPORARY('T');

    private final char letter;

    Privilege(char letter) {
        this.letter = letter;
    }

    public char letter() {
        return letter;
    }
}
