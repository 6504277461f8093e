# What two servers that behave the same may still say differently, in what
# kubectl prints (sed -E). Anything else that differs is a fault.

# Times, in the formats of the API and of kubectl describe.
s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(\.[0-9]+)?(Z| \+0000( UTC)?)/TIME/g
s/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9:]+ [0-9:]+ \+0000/TIME/g

# Each server has a version of its own, and writes the fields of a Status in an
# order of its own.
s/^(Server Version: v[0-9.]+)\+.*/\1/
s/^\{.*"status":"Success".*\}$/SUCCESS/

# Uids, versions of objects, the ends of event names and of credentials' ids.
s/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/UID/g
s/(resourceVersion\\?"?: ?\\?")[0-9]+/\1VERSION/g
s/\.[0-9a-f]{16}\b/.HEX/g
s/\b[0-9a-f]{64}\b/SHA256/g

# The files of kubectl diff, and the one that an edit is made in.
s|/tmp/(LIVE\|MERGED)-[0-9]+|/tmp/\1|g
s|/tmp/kubectl-edit-[0-9]+|/tmp/kubectl-edit|g

# Names made up by the server, in its alphabet: a ReplicaSet's, which ends in
# the hash of its template; a pod's, which is that with five letters more.
s/(pod-template-hash(=|"?: ))"?[bcdfghjklmnpqrstvwxz2456789]+"?/\1HASH/g
s/-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/-HASH/g
s/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/-RAND/g

# Where things are: servers, pods, Services.
s|https?://[^/ ]*:[0-9]+|URL|g
s/\b([0-9]{1,3}\.){3}[0-9]{1,3}\b/IP/g

# What a pod may not change is shown as a difference of Go's structs there, and
# as a JSON patch here.
/^! @@/,/^! $/d
/^! \[\{"op":/d

# How what is malformed is told, in what follows upstream's words for it.
s/(json parse error: |cannot be handled as a [A-Za-z]+: ).*/\1WHY/
s/StorageError: .* AdditionalErrorMsg: //

# A watch that is to last for a second, and does.
/"Warning: watch ended with error" .* err="very short watch: /d

# The rest is not for our own commands.
/^\$ /b

# Ages (of less than ten minutes), and how often an event was seen in one.
s/\b([0-9]+m)?[0-9]+s\b/AGE/g
s/([ (])[2-9]m($|[ )])/\1AGE\2/g
s/ \(x[0-9]+ over AGE\)//g

# Who plays the kubelets, and who keeps their leases.
s/(kwok|minisched)-[0-9.]+/KUBELET/g
s/(HolderIdentity: +).*/\1HOLDER/

# How wide columns are follows from all of the above, and is kubectl's own work.
s/([^ !+-])  +/\1  /g
