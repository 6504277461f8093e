# Replaces parts of kubectl's output that may differ between two servers that
# behave the same (sed -E). Any other difference is a fault.

# Times, in the formats of the API and of kubectl describe.
s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(\.[0-9]+)?(Z| \+0000( UTC)?)/TIME/g
s/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9:]+ [0-9:]+ \+0000/TIME/g

# The server's version, and the order of the fields of a Status.
s/^(Server Version: v[0-9.]+)\+.*/\1/
s/^\{.*"status":"Success".*\}$/SUCCESS/

# Uids, versions of objects, suffixes of event names and of credentials' ids.
s/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/UID/g
s/(resourceVersion\\?"?: ?\\?")[0-9]+/\1VERSION/g
s/\.[0-9a-f]{16}\b/.HEX/g
s/\b[0-9a-f]{64}\b/SHA256/g

# Temporary files of kubectl diff and kubectl edit.
s|/tmp/(LIVE\|MERGED)-[0-9]+|/tmp/\1|g
s|/tmp/kubectl-edit-[0-9]+|/tmp/kubectl-edit|g

# Generated names: a ReplicaSet's ends in the hash of its template; a pod's has
# five more letters.
s/(pod-template-hash(=|"?: ))"?[bcdfghjklmnpqrstvwxz2456789]+"?/\1HASH/g
s/-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/-HASH/g
s/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/-RAND/g

# Addresses of servers, pods and Services.
s|https?://[^/ ]*:[0-9]+|URL|g
s/\b([0-9]{1,3}\.){3}[0-9]{1,3}\b/IP/g

# The rejected change of a pod: kube-apiserver shows a diff of Go structs, and
# minisched-apiserver a JSON patch.
/^! @@/,/^! $/d
/^! \[\{"op":/d

# Details of parse errors after upstream's words.
s/(json parse error: |cannot be handled as a [A-Za-z]+: ).*/\1WHY/
s/StorageError: .* AdditionalErrorMsg: //

# A watch with a timeout of one second ends normally.
/"Warning: watch ended with error" .* err="very short watch: /d

# The rules below do not apply to the echoed commands.
/^\$ /b

# Ages (of less than ten minutes), and the number of events in an age.
s/\b([0-9]+m)?[0-9]+s\b/AGE/g
s/([ (])[2-9]m($|[ )])/\1AGE\2/g
s/ \(x[0-9]+ over AGE\)//g

# The simulator of the kubelets, and the holders of their leases.
s/(kwok|minisched)-[0-9.]+/KUBELET/g
s/(HolderIdentity: +).*/\1HOLDER/

# The width of columns depends on all of the values above.
s/([^ !+-])  +/\1  /g
